/** The environment variables that the program reads, checked once at start. docs/configuration.md lists them for users. */

import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { type AdminSettings, adminSettings, adminVariables } from './admin/variables.ts';
import { type GatewaySettings, gatewaySettings, gatewayVariables } from './gateway/variables.ts';
import { type ListenerSettings, listenerSettings, listenerVariables } from './http/variables.ts';
import { type JwtEnvironment, jwtEnvironment, jwtVariables } from './identity/jwt/variables.ts';
import type { LimitsSettings } from './limits/limits.ts';
import { type LogSettings, logSettings, logVariables } from './logs/variables.ts';
import type { MailSettings } from './mail/mailer.ts';
import { type MasterKeySettings, masterKeySettings, masterKeyVariables } from './master-key-variables.ts';
import { type McpEnvironment, mcpEnvironment, mcpVariables } from './mcp/variables.ts';
import { parseRedisUrl } from './redis/address.ts';
import { type SecretSettings, secretSettings, secretVariables } from './secrets/variables.ts';
import type { StoreAddress } from './store/database.ts';
import { type TelemetrySettings, telemetrySettings, telemetryVariables } from './telemetry/variables.ts';
import { EnvironmentError, webAddress, wholeNumber } from './variable-fields.ts';

export type { GatewaySettings, SemanticCacheSettings } from './gateway/variables.ts';
export type { MasterKeySource } from './master-key-variables.ts';
export { EnvironmentError } from './variable-fields.ts';

/** Made when it is asked for: it is read once, at start. */
export const environmentSchema = () =>
  z.object({
    GW_DATA_DIR: z.string().min(1).default('./data'),
    GW_URL: webAddress().max(2_000).optional(),
    GW_API_KEY: z.string().min(1).max(4_000).optional(),
    GW_CLIENT_AUTH: z.string().min(32, 'must be at least 32 characters long').max(500).optional(),
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
    SEMANTIC_CACHE_ENTRIES: wholeNumber(20_000, 1, 1e6),
    CACHE_MEMORY_BYTES: wholeNumber(64 * 1024 * 1024, 0, 1e12),
    CACHE_TIMEOUT_MS: wholeNumber(50, 1, 60_000),
    MAX_STORED_FILE_BYTES: wholeNumber(10 * 1024 ** 3, 1024 ** 2, Number.MAX_SAFE_INTEGER),
    GW_OUTAGE_GRACE_SECONDS: wholeNumber(300, 0, 86_400),
    ...listenerVariables(),
    ...adminVariables(),
    ...gatewayVariables(),
    ...logVariables(),
    ...masterKeyVariables(),
    ...jwtVariables(),
    ...mcpVariables(),
    ...secretVariables(),
    ...telemetryVariables(),
  });

type Variables = z.output<ReturnType<typeof environmentSchema>>;

export interface Settings extends ListenerSettings, AdminSettings, LogSettings, MasterKeySettings {
  dataDir: string;
  store: StoreAddress;
  limits: LimitsSettings;
  /** Null: notices are kept, and nobody is mailed. */
  mail: MailSettings | null;
  /** The server that commands speak to, and the key that they use; null: this machine's, none. */
  client: { url: string | null; apiKey: string | null };
  /** The token with which parts of the service ask each other; null: none may. */
  clientAuth: string | null;
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
  telemetry: TelemetrySettings;
  gateway: GatewaySettings;
  mcp: McpEnvironment;
  jwt: JwtEnvironment;
  secrets: SecretSettings;
}

const pathVariables = new Set(['GW_DATA_DIR', 'TLS_KEY_PATH', 'TLS_CERT_PATH', 'TLS_CA_PATH', 'SECRET_FILES_DIR']);

/** Orchestrators hand secrets over as files: a value that is the path of one stands for what is in it. */
function contentOf(name: string, value: string): string {
  const isPath = /^\.{0,2}\//.test(value) && !pathVariables.has(name);
  return isPath && statSync(value, { throwIfNoEntry: false })?.isFile() ? readFileSync(value, 'utf8').trim() : value;
}

function mailSettings({ SMTP_URL, MAIL_FROM }: Variables): MailSettings | null {
  if (SMTP_URL === undefined) return null;
  if (MAIL_FROM === undefined) throw new EnvironmentError('Wrong environment: MAIL_FROM: is required with SMTP_URL');
  return { url: SMTP_URL, from: MAIL_FROM };
}

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
  const dataDir = resolve(values.GW_DATA_DIR);
  const listener = listenerSettings(values);
  return {
    ...listener,
    ...adminSettings(values),
    ...logSettings(values),
    ...masterKeySettings(values),
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
    client: { url: values.GW_URL ?? null, apiKey: values.GW_API_KEY ?? null },
    clientAuth: values.GW_CLIENT_AUTH ?? null,
    storedFileBytes: values.MAX_STORED_FILE_BYTES,
    outageGraceMs: values.GW_OUTAGE_GRACE_SECONDS * 1000,
    cacheMemoryBytes: values.CACHE_MEMORY_BYTES,
    cacheTimeoutMs: values.CACHE_TIMEOUT_MS,
    semanticCacheEntries: values.SEMANTIC_CACHE_ENTRIES,
    gateway: gatewaySettings(values, listener.trustedHosts),
    mcp: mcpEnvironment(values),
    jwt: jwtEnvironment(values),
    secrets: secretSettings(values),
    telemetry: telemetrySettings(values),
  };
}
