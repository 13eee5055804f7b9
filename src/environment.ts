/** The environment variables that the program reads, checked once at start. docs/configuration.md lists them for users. */

import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { CorsRules } from './http/cors.ts';
import type { TrustedHosts } from './http/custom-host.ts';
import type { TlsFiles } from './http/server.ts';
import { faultOfTlsFiles } from './http/tls-files.ts';
import { type JwtEnvironment, jwtEnvironment, jwtVariables } from './identity/jwt/variables.ts';
import type { LimitsSettings } from './limits/limits.ts';
import type { Breaker } from './logs/importer.ts';
import type { LogOptions } from './logs/logs.ts';
import { bodyObjects, missingObjectVariables, objectVariables } from './logs/objects/variables.ts';
import type { MailSettings } from './mail/mailer.ts';
import { type McpEnvironment, mcpEnvironment, mcpVariables } from './mcp/variables.ts';
import { parseRedisUrl } from './redis/address.ts';
import { type SecretSettings, secretSettings, secretVariables } from './secrets/variables.ts';
import type { StoreAddress } from './store/database.ts';
import { type TelemetrySettings, telemetrySettings, telemetryVariables } from './telemetry/variables.ts';

const entries = (text: string): string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

const list = () => z.string().default('').transform(entries);

/** The form of the reference product's feature switches: `OFF` turns a feature off, anything else leaves it on. */
const onUnlessOff = () =>
  z
    .string()
    .default('ON')
    .transform((value) => value.trim().toUpperCase() !== 'OFF');

const flag = () =>
  z
    .string()
    .default('')
    .transform((value) => ['1', 'true', 'on', 'yes'].includes(value.trim().toLowerCase()));

function wholeNumber(fallback: number, least: number, most: number) {
  const error = `must be a whole number from ${least} to ${most}, in digits alone`;
  return z.coerce.number(error).int(error).min(least, error).max(most, error).default(fallback);
}

/** Made when it is asked for: it is read once, at start. */
export const environmentSchema = () =>
  z.object({
    PORT: wholeNumber(8787, 0, 65_535),
    HOST: z
      .string()
      .regex(/^[\w.:%-]+$/, 'must be an address or a name of this machine alone, without scheme, port or brackets')
      .default('127.0.0.1'),
    TLS_KEY_PATH: z.string().optional(),
    TLS_CERT_PATH: z.string().optional(),
    TLS_CA_PATH: z.string().optional(),
    GW_DATA_DIR: z.string().min(1).default('./data'),
    GW_ADMIN_API_KEY: z
      .string()
      .min(32, 'must be at least 32 characters long')
      .max(200)
      .regex(/^[\w~+/=-]+$/, 'may hold only letters, digits and - _ ~ + / =')
      .optional(),
    GW_OWNER_EMAIL: z.email().max(254).toLowerCase().default('owner@gw.local'),
    GW_OWNER_PASSWORD: z.string().min(12, 'must be at least 12 characters long').max(200).optional(),
    GW_URL: z
      .url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
      .max(2_000)
      .optional(),
    GW_API_KEY: z.string().min(1).max(4_000).optional(),
    GW_CLIENT_AUTH: z.string().min(32, 'must be at least 32 characters long').max(500).optional(),
    GW_MASTER_KEY: z.string().min(32, 'must be at least 32 characters long').optional(),
    GW_MASTER_KEY_KMS_CIPHERTEXT: z.base64('must be base64').max(8_192).optional(),
    GW_MASTER_KEY_KMS_REGION: z
      .string()
      .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be the name of a region')
      .optional(),
    GW_NEXT_MASTER_KEY: z.string().min(32, 'must be at least 32 characters long').optional(),
    GW_NEXT_MASTER_KEY_KMS_CIPHERTEXT: z.base64('must be base64').max(8_192).optional(),
    DATABASE_URL: z
      .string()
      .regex(/^postgres(ql)?:\/\//, 'must be a postgres:// address')
      // A socket in the file system has no host.
      .refine(
        (url) => URL.canParse(url.replace('@/', '@socket/')),
        'must be an address such as postgres://user:password@host:5432/name',
      )
      .optional(),
    REDIS_URL: z
      .string()
      .max(2_000)
      .refine((url) => parseRedisUrl(url) !== null, 'must be an address such as redis://:password@host:6379/0')
      .optional(),
    SMTP_URL: z
      .url({ protocol: /^smtps?$/, error: 'must be an address such as smtps://user:password@host:465' })
      .max(2_000)
      .optional(),
    MAIL_FROM: z.string().min(3).max(320).optional(),
    LIMITS_STORE_TIMEOUT_MS: wholeNumber(40, 1, 60_000),
    LIMITS_ON_STORE_FAILURE: z.enum(['open', 'closed']).optional(),
    API_KEY_PREFIX: z
      .string()
      .max(20)
      .regex(/^[\w-]*$/, 'may hold only letters, digits, - and _')
      .default(''),
    CONTROL_PLANE_URL: z.url({ protocol: /^https?$/ }).optional(),
    NODE_ENV: z.string().optional(),
    TRUSTED_CUSTOM_HOSTS: z.string().transform(entries).optional(),
    TRUSTED_PROXIES: list().pipe(
      z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], { error: 'must be an IP address or a range' })),
    ),
    ADMIN_RATE_LIMIT: wholeNumber(6_000, 0, 1e9),
    ADMIN_SENSITIVE_RATE_LIMIT: wholeNumber(120, 0, 1e9),
    SEMANTIC_CACHE_EMBEDDING_PROVIDER: z.string().trim().max(256).optional(),
    SEMANTIC_CACHE_EMBEDDING_MODEL: z.string().trim().max(255).optional(),
    SEMANTIC_CACHE_EMBEDDING_DIMENSIONS: wholeNumber(0, 0, 16_384),
    SEMANTIC_CACHE_SIMILARITY_THRESHOLD: z.coerce.number().min(0).max(1).default(0.95),
    SEMANTIC_CACHE_ENTRIES: wholeNumber(20_000, 1, 1e6),
    CACHE_MEMORY_BYTES: wholeNumber(64 * 1024 * 1024, 0, 1e12),
    CACHE_TIMEOUT_MS: wholeNumber(50, 1, 60_000),
    HEADER_PREFIX_ALIASES: list(),
    HEADERS_TO_METADATA: list(),
    METADATA_MAP_KEY_PREFIX: z
      .string()
      .max(40)
      .regex(/^[a-z][a-z0-9_-]*$/, 'may hold only small letters, digits, - and _, a letter first')
      .default('gw_gateway_'),
    ORGANISATION_HEADERS_TO_MASK: list(),
    CUSTOM_HEADERS_TO_IGNORE: list(),
    BLOCK_INLINE_CONFIG: flag(),
    GW_CLOUD_IDENTITY: z.enum(['saved', 'any', 'off']).default('saved'),
    GW_CLOUD_IDENTITY_BUCKETS: list(),
    SKIP_DATAPLANE_CONFIG_CHECK: flag(),
    MAX_ROOT_CONFIG_TARGETS: wholeNumber(100, 1, 100_000),
    MAX_CONDITIONAL_ROOT_CONFIG_TARGETS: wholeNumber(1_000, 1, 100_000),
    MAX_NESTED_CONFIG_TARGETS: wholeNumber(50, 1, 100_000),
    REQUEST_TIMEOUT: wholeNumber(300_000, 1, 86_400_000),
    STREAM_IDLE_TIMEOUT: wholeNumber(120_000, 1, 86_400_000),
    MAX_REQUEST_BODY_BYTES: wholeNumber(100 * 1024 * 1024, 1024, Number.MAX_SAFE_INTEGER),
    MAX_BUFFERED_BYTES: wholeNumber(1024 ** 3, 1024 ** 2, Number.MAX_SAFE_INTEGER),
    MAX_STORED_FILE_BYTES: wholeNumber(10 * 1024 ** 3, 1024 ** 2, Number.MAX_SAFE_INTEGER),
    MAX_CONNECTIONS_PER_ORGANISATION: wholeNumber(0, 0, 1_000_000),
    REQUEST_BODY_TIMEOUT: wholeNumber(60_000, 1, 86_400_000),
    MAX_RESPONSE_BODY_BYTES: wholeNumber(100 * 1024 * 1024, 1024, Number.MAX_SAFE_INTEGER),
    CORS_ALLOWED_ORIGINS: list(),
    CORS_ALLOWED_METHODS: list(),
    CORS_ALLOWED_HEADERS: list(),
    CORS_ALLOWED_EXPOSE_HEADERS: list(),
    LOG_RETENTION_DAYS: wholeNumber(90, 0, 36_500),
    METRICS_RETENTION_DAYS: wholeNumber(365, 1, 36_500),
    LOG_SPOOL_MAX_BYTES: wholeNumber(2 * 1024 ** 3, 1024 ** 2, Number.MAX_SAFE_INTEGER),
    DISABLE_ORG_CREATION: flag(),
    AUDIT_LOGS_ENABLED: onUnlessOff(),
    SCIM_ENABLED: onUnlessOff(),
    GUARDRAILS_ENABLED: onUnlessOff(),
    SCIM_MEMBERSHIP_USER_MODE: flag(),
    GW_OUTAGE_GRACE_SECONDS: wholeNumber(300, 0, 86_400),
    CLICKHOUSE_URL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }).optional(),
    LOG_QUERY_TIMEOUT_MS: wholeNumber(10_000, 100, 600_000),
    LOG_STORE_CONNECTION_FAILURE_THRESHOLD: wholeNumber(5, 1, 1_000),
    LOG_STORE_CONNECTION_BACKOFF_MS: wholeNumber(60_000, 1, 86_400_000),
    LOG_STORE_CONNECTION_TIMEOUT_MS: wholeNumber(15_000, 1, 600_000),
    ...jwtVariables(),
    ...mcpVariables(),
    ...secretVariables(),
    ...telemetryVariables(),
    ...objectVariables(),
  });

type Variables = z.output<ReturnType<typeof environmentSchema>>;

export interface SemanticCacheSettings {
  /** The slug of a saved provider with an embeddings route. */
  provider: string;
  model: string;
  /** Null: as many as the model has. */
  dimensions: number | null;
  threshold: number;
}

/** What the data plane takes from the environment. */
export interface GatewaySettings {
  /** How questions that mean the same are found where the organisation does not say it; null: only equal ones are. */
  semanticCache: SemanticCacheSettings | null;
  /** Other prefixes under which our headers are accepted, such as `x-acme-`. */
  headerPrefixAliases: readonly string[];
  headersToMetadata: readonly string[];
  /** Stands before the names of metadata that become labels on a cloud's bill. */
  labelPrefix: string;
  /** Headers whose values are masked in logs, besides credentials. */
  maskedHeaders: readonly string[];
  /** Headers that passthrough does not forward. */
  ignoredHeaders: ReadonlySet<string>;
  blockInlineConfig: boolean;
  /** Who may call clouds as the gateway itself. */
  cloudIdentity: 'saved' | 'any' | 'off';
  /** Buckets in which that identity may keep and read files. */
  lentBuckets: ReadonlySet<string>;
  /** Uploads, batches and fine-tunes may use configs with several targets. */
  skipSingleTargetCheck: boolean;
  targetLimits: { root: number; conditionalRoot: number; nested: number };
  /** Milliseconds for an upstream attempt when nothing else is set. */
  requestTimeout: number;
  /** Milliseconds of silence that end a stream when nothing else is set. */
  streamIdleTimeout: number;
  bodyLimit: number;
  /** Bytes of all bodies that are held in memory at once; an organisation may hold half of them. */
  bufferedBytes: number;
  /** Milliseconds in which a client must have sent a body that we read, besides the time that its length takes. */
  bodyTimeout: number;
  /** Bytes of an answer that must be read before it is handed on. */
  answerLimit: number;
  /** Connections to providers that one organisation may use at once; null: its share of the files that the process may open. */
  connectionsOfOrganisation: number | null;
  trustedHosts: TrustedHosts;
}

export interface Settings {
  port: number;
  host: string;
  /** Null: whoever stands in front speaks TLS. */
  tls: TlsFiles | null;
  dataDir: string;
  store: StoreAddress;
  limits: LimitsSettings;
  /** Null: notices are kept, and nobody is mailed. */
  mail: MailSettings | null;
  masterKey: MasterKeySource;
  /** What gw master-key rotate puts in its place. */
  nextMasterKey: MasterKeySource;
  /** The server that commands speak to, and the key that they use; null: this machine's, none. */
  client: { url: string | null; apiKey: string | null };
  /** The token with which parts of the service ask each other; null: none may. */
  clientAuth: string | null;
  firstAdminKey: string | null;
  ownerEmail: string;
  ownerPassword: string | null;
  apiKeyPrefix: string;
  /** The public address of the console, for links in notices; null: as the caller reached us. */
  publicUrl: string | null;
  trustedHosts: TrustedHosts;
  trustedProxies: readonly string[];
  /** Calls a minute for one credential; 0 switches the limit off. */
  adminRateLimit: number;
  sensitiveRateLimit: number;
  organisationCreation: boolean;
  auditLogs: boolean;
  /** False: no guardrail runs, and none can be managed. */
  guardrails: boolean;
  /** `userMode`: memberships of groups are written through users. */
  scim: { enabled: boolean; userMode: boolean };
  /** How long keys and configs in memory count while the database cannot be reached. */
  outageGraceMs: number;
  /** Bytes that the files of one workspace may take which the gateway keeps itself. */
  storedFileBytes: number;
  /** How much memory cached answers may take. */
  cacheMemoryBytes: number;
  /** How long a request waits to be told of a hit. */
  cacheTimeoutMs: number;
  /** Questions that the semantic index keeps for each workspace. */
  semanticCacheEntries: number;
  /** How long a failing log store is left alone, and when. */
  logStore: Breaker;
  logs: Omit<LogOptions, 'now' | 'observe' | 'timer'>;
  telemetry: TelemetrySettings;
  cors: CorsRules;
  gateway: GatewaySettings;
  mcp: McpEnvironment;
  jwt: JwtEnvironment;
  secrets: SecretSettings;
}

const everyMethod = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

/** On a developer's machine, model servers on the same machine may be called without further ado. */
const localHosts = ['localhost', '127.0.0.1', '::1', 'host.docker.internal'];

const pathVariables = new Set(['GW_DATA_DIR', 'TLS_KEY_PATH', 'TLS_CERT_PATH', 'TLS_CA_PATH', 'SECRET_FILES_DIR']);

/** Orchestrators hand secrets over as files: a value that is the path of one stands for what is in it. */
function contentOf(name: string, value: string): string {
  const isPath = /^\.{0,2}\//.test(value) && !pathVariables.has(name);
  return isPath && statSync(value, { throwIfNoEntry: false })?.isFile() ? readFileSync(value, 'utf8').trim() : value;
}

function tlsFiles({ TLS_KEY_PATH, TLS_CERT_PATH, TLS_CA_PATH }: Variables): TlsFiles | null {
  if (TLS_KEY_PATH === undefined && TLS_CERT_PATH === undefined && TLS_CA_PATH === undefined) return null;
  if (TLS_KEY_PATH === undefined || TLS_CERT_PATH === undefined) {
    const alone = TLS_CA_PATH === undefined ? '' : ', and TLS_CA_PATH beside them';
    throw new EnvironmentError(`Wrong environment: TLS_KEY_PATH and TLS_CERT_PATH belong together${alone}`);
  }
  const files: TlsFiles = { key: TLS_KEY_PATH, cert: TLS_CERT_PATH, ca: TLS_CA_PATH ?? null };
  const fault = faultOfTlsFiles(files);
  if (fault) throw new EnvironmentError(`Wrong environment: ${tlsVariables[fault.file]}: ${fault.reason}`);
  return files;
}

const tlsVariables = { key: 'TLS_KEY_PATH', cert: 'TLS_CERT_PATH', ca: 'TLS_CA_PATH' } as const;

function mailSettings({ SMTP_URL, MAIL_FROM }: Variables): MailSettings | null {
  if (SMTP_URL === undefined) return null;
  if (MAIL_FROM === undefined) throw new EnvironmentError('Wrong environment: MAIL_FROM: is required with SMTP_URL');
  return { url: SMTP_URL, from: MAIL_FROM };
}

function ownHosts({ HOST, PORT, CONTROL_PLANE_URL }: Variables): string[] {
  const names = [HOST.includes(':') ? `[${HOST}]` : HOST, 'localhost', '127.0.0.1', '[::1]'];
  const listener = names.flatMap((name) => URL.parse(`http://${name}:${PORT}`)?.host ?? []);
  return CONTROL_PLANE_URL ? [new URL(CONTROL_PLANE_URL).host, ...listener] : listener;
}

/** Where a master key comes from. */
export type MasterKeySource =
  | { from: 'environment'; secret: string }
  /** Encrypted by AWS KMS, and decrypted with it at the start. */
  | { from: 'kms'; ciphertext: string; region: string | null }
  /** In the data folder. */
  | { from: 'file'; name: string };

function keySource(
  { secret, ciphertext }: { secret: string | undefined; ciphertext: string | undefined },
  { GW_MASTER_KEY_KMS_REGION }: Variables,
  name: string,
): MasterKeySource {
  if (secret !== undefined && ciphertext !== undefined) {
    throw new EnvironmentError('Wrong environment: a master key comes from the environment or from KMS, not from both');
  }
  if (secret !== undefined) return { from: 'environment', secret };
  if (ciphertext !== undefined) return { from: 'kms', ciphertext, region: GW_MASTER_KEY_KMS_REGION ?? null };
  return { from: 'file', name };
}

export class EnvironmentError extends Error {}

export function readEnvironment(env: Record<string, string | undefined>): Settings {
  const schema = environmentSchema();
  // A variable set to nothing counts as not set, as shells and compose files produce it.
  const given = Object.fromEntries(
    Object.keys(schema.shape).flatMap((name) => (env[name] ? [[name, contentOf(name, env[name])]] : [])),
  );
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw new EnvironmentError(`Wrong environment: ${faults.join('; ')}`);
  }
  const values = parsed.data;
  const lacking = missingObjectVariables(values);
  if (lacking.length > 0) {
    throw new EnvironmentError(`Wrong environment: LOG_STORE_S3_BUCKET needs ${lacking.join(' and ')}`);
  }
  const dataDir = resolve(values.GW_DATA_DIR);
  const trustedHosts = {
    named: values.TRUSTED_CUSTOM_HOSTS ?? (values.NODE_ENV === 'production' ? [] : localHosts),
    own: ownHosts(values),
  };
  return {
    port: values.PORT,
    host: values.HOST,
    tls: tlsFiles(values),
    dataDir,
    store: values.DATABASE_URL
      ? { engine: 'postgres', url: values.DATABASE_URL }
      : { engine: 'sqlite', file: join(dataDir, 'state.db') },
    limits: {
      redisUrl: values.REDIS_URL ?? null,
      onStoreFailure: values.LIMITS_ON_STORE_FAILURE ?? 'default',
      storeTimeoutMs: values.LIMITS_STORE_TIMEOUT_MS,
    },
    mail: mailSettings(values),
    masterKey: keySource(
      { secret: values.GW_MASTER_KEY, ciphertext: values.GW_MASTER_KEY_KMS_CIPHERTEXT },
      values,
      'master.key',
    ),
    nextMasterKey: keySource(
      { secret: values.GW_NEXT_MASTER_KEY, ciphertext: values.GW_NEXT_MASTER_KEY_KMS_CIPHERTEXT },
      values,
      'master.key.next',
    ),
    client: { url: values.GW_URL ?? null, apiKey: values.GW_API_KEY ?? null },
    clientAuth: values.GW_CLIENT_AUTH ?? null,
    firstAdminKey: values.GW_ADMIN_API_KEY ?? null,
    ownerEmail: values.GW_OWNER_EMAIL,
    ownerPassword: values.GW_OWNER_PASSWORD ?? null,
    apiKeyPrefix: values.API_KEY_PREFIX,
    publicUrl: values.CONTROL_PLANE_URL?.replace(/\/+$/, '') ?? null,
    trustedHosts,
    storedFileBytes: values.MAX_STORED_FILE_BYTES,
    trustedProxies: values.TRUSTED_PROXIES,
    adminRateLimit: values.ADMIN_RATE_LIMIT,
    sensitiveRateLimit: values.ADMIN_SENSITIVE_RATE_LIMIT,
    organisationCreation: !values.DISABLE_ORG_CREATION,
    auditLogs: values.AUDIT_LOGS_ENABLED,
    guardrails: values.GUARDRAILS_ENABLED,
    scim: { enabled: values.SCIM_ENABLED, userMode: values.SCIM_MEMBERSHIP_USER_MODE },
    outageGraceMs: values.GW_OUTAGE_GRACE_SECONDS * 1000,
    cacheMemoryBytes: values.CACHE_MEMORY_BYTES,
    cacheTimeoutMs: values.CACHE_TIMEOUT_MS,
    semanticCacheEntries: values.SEMANTIC_CACHE_ENTRIES,
    logStore: {
      failureThreshold: values.LOG_STORE_CONNECTION_FAILURE_THRESHOLD,
      backoffMs: values.LOG_STORE_CONNECTION_BACKOFF_MS,
      timeoutMs: values.LOG_STORE_CONNECTION_TIMEOUT_MS,
    },
    logs: {
      limits: {
        bodyDays: values.LOG_RETENTION_DAYS,
        rowDays: values.METRICS_RETENTION_DAYS,
        spoolBytes: values.LOG_SPOOL_MAX_BYTES,
      },
      clickhouseUrl: values.CLICKHOUSE_URL ?? null,
      objects: bodyObjects(values),
      queryTimeoutMs: values.LOG_QUERY_TIMEOUT_MS,
    },
    cors: {
      origins: values.CORS_ALLOWED_ORIGINS,
      methods: values.CORS_ALLOWED_METHODS.length === 0 ? everyMethod : values.CORS_ALLOWED_METHODS,
      headers: values.CORS_ALLOWED_HEADERS,
      exposedHeaders: values.CORS_ALLOWED_EXPOSE_HEADERS.length === 0 ? ['*'] : values.CORS_ALLOWED_EXPOSE_HEADERS,
    },
    gateway: {
      semanticCache: semanticCache(values),
      headerPrefixAliases: values.HEADER_PREFIX_ALIASES.map((prefix) => prefix.toLowerCase()),
      labelPrefix: values.METADATA_MAP_KEY_PREFIX,
      headersToMetadata: values.HEADERS_TO_METADATA.map((name) => name.toLowerCase()),
      maskedHeaders: values.ORGANISATION_HEADERS_TO_MASK.map((name) => name.toLowerCase()),
      ignoredHeaders: new Set(values.CUSTOM_HEADERS_TO_IGNORE.map((name) => name.toLowerCase())),
      blockInlineConfig: values.BLOCK_INLINE_CONFIG,
      cloudIdentity: values.GW_CLOUD_IDENTITY,
      lentBuckets: new Set(values.GW_CLOUD_IDENTITY_BUCKETS),
      skipSingleTargetCheck: values.SKIP_DATAPLANE_CONFIG_CHECK,
      targetLimits: {
        root: values.MAX_ROOT_CONFIG_TARGETS,
        conditionalRoot: values.MAX_CONDITIONAL_ROOT_CONFIG_TARGETS,
        nested: values.MAX_NESTED_CONFIG_TARGETS,
      },
      requestTimeout: values.REQUEST_TIMEOUT,
      streamIdleTimeout: values.STREAM_IDLE_TIMEOUT,
      bodyLimit: values.MAX_REQUEST_BODY_BYTES,
      bufferedBytes: values.MAX_BUFFERED_BYTES,
      bodyTimeout: values.REQUEST_BODY_TIMEOUT,
      answerLimit: values.MAX_RESPONSE_BODY_BYTES,
      trustedHosts,
      connectionsOfOrganisation: values.MAX_CONNECTIONS_PER_ORGANISATION || null,
    },
    mcp: mcpEnvironment(values),
    jwt: jwtEnvironment(values),
    secrets: secretSettings(values),
    telemetry: telemetrySettings(values),
  };
}

interface SemanticCacheValues {
  SEMANTIC_CACHE_EMBEDDING_PROVIDER?: string | undefined;
  SEMANTIC_CACHE_EMBEDDING_MODEL?: string | undefined;
  SEMANTIC_CACHE_EMBEDDING_DIMENSIONS: number;
  SEMANTIC_CACHE_SIMILARITY_THRESHOLD: number;
}

const semanticCache = (values: SemanticCacheValues): SemanticCacheSettings | null =>
  values.SEMANTIC_CACHE_EMBEDDING_PROVIDER && values.SEMANTIC_CACHE_EMBEDDING_MODEL
    ? {
        provider: values.SEMANTIC_CACHE_EMBEDDING_PROVIDER.replace(/^@/, ''),
        model: values.SEMANTIC_CACHE_EMBEDDING_MODEL,
        dimensions: values.SEMANTIC_CACHE_EMBEDDING_DIMENSIONS || null,
        threshold: values.SEMANTIC_CACHE_SIMILARITY_THRESHOLD,
      }
    : null;
