/** The environment variables of the data plane. */
import { z } from 'zod';
import type { TrustedHosts } from '../http/custom-host.ts';
import { flag, list, listInSmallLetters, wholeNumber } from '../variable-fields.ts';

export const gatewayVariables = () => ({
  SEMANTIC_CACHE_EMBEDDING_PROVIDER: z.string().trim().max(256).optional(),
  SEMANTIC_CACHE_EMBEDDING_MODEL: z.string().trim().max(255).optional(),
  SEMANTIC_CACHE_EMBEDDING_DIMENSIONS: wholeNumber(0, 0, 16_384),
  SEMANTIC_CACHE_SIMILARITY_THRESHOLD: z.coerce.number().min(0).max(1).default(0.95),
  HEADER_PREFIX_ALIASES: listInSmallLetters(),
  HEADERS_TO_METADATA: listInSmallLetters(),
  METADATA_MAP_KEY_PREFIX: z
    .string()
    .max(40)
    .regex(/^[a-z][a-z0-9_-]*$/, 'may hold only small letters, digits, - and _, a letter first')
    .default('gw_gateway_'),
  ORGANISATION_HEADERS_TO_MASK: listInSmallLetters(),
  CUSTOM_HEADERS_TO_IGNORE: listInSmallLetters(),
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
  MAX_CONNECTIONS_PER_ORGANISATION: wholeNumber(0, 0, 1_000_000),
  REQUEST_BODY_TIMEOUT: wholeNumber(60_000, 1, 86_400_000),
  MAX_RESPONSE_BODY_BYTES: wholeNumber(100 * 1024 * 1024, 1024, Number.MAX_SAFE_INTEGER),
});

type Variables = z.output<z.ZodObject<ReturnType<typeof gatewayVariables>>>;

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

export const gatewaySettings = (values: Variables, trustedHosts: TrustedHosts): GatewaySettings => ({
  semanticCache: semanticCache(values),
  headerPrefixAliases: values.HEADER_PREFIX_ALIASES,
  labelPrefix: values.METADATA_MAP_KEY_PREFIX,
  headersToMetadata: values.HEADERS_TO_METADATA,
  maskedHeaders: values.ORGANISATION_HEADERS_TO_MASK,
  ignoredHeaders: new Set(values.CUSTOM_HEADERS_TO_IGNORE),
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
});

const semanticCache = (values: Variables): SemanticCacheSettings | null =>
  values.SEMANTIC_CACHE_EMBEDDING_PROVIDER && values.SEMANTIC_CACHE_EMBEDDING_MODEL
    ? {
        provider: values.SEMANTIC_CACHE_EMBEDDING_PROVIDER.replace(/^@/, ''),
        model: values.SEMANTIC_CACHE_EMBEDDING_MODEL,
        dimensions: values.SEMANTIC_CACHE_EMBEDDING_DIMENSIONS || null,
        threshold: values.SEMANTIC_CACHE_SIMILARITY_THRESHOLD,
      }
    : null;
