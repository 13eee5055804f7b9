/** The advanced configuration of an MCP integration: what may be saved, and what the data plane reads. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';

const text = (most: number) => z.string().min(1).max(most);
const headerName = () =>
  z
    .string()
    .max(256)
    .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'is not the name of a header')
    .meta({ examples: ['x-team'] });
const headerValue = () =>
  z
    .string()
    .max(16_384)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the purpose.
    .regex(/^[^\u0000-\u0008\u000a-\u001f\u007f]*$/, 'must be one line without control characters');

const most = <T extends object>(count: number) =>
  [(fields: T) => Object.keys(fields).length <= count, { message: `at most ${count} entries` }] as const;

const headers = () => z.record(headerName(), headerValue()).refine(...most(100));
const address = () =>
  z
    .string()
    .max(2048)
    .regex(/^https?:\/\//i, 'must start with http:// or https://')
    .meta({ examples: ['https://example.com'] });
const names = (count = 100) => z.array(text(255)).max(count);

const forwardedHeader = () => z.union([headerName(), z.strictObject({ from: headerName(), to: headerName() })]);

const forwardHeaders = () =>
  z
    .union([
      z.array(forwardedHeader()).max(100),
      z.strictObject({ mode: z.enum(['allowlist', 'all-except']), headers: z.array(forwardedHeader()).max(100) }),
    ])
    .transform((value) => (Array.isArray(value) ? { mode: 'allowlist' as const, headers: value } : value));

const claimRule = () =>
  z.strictObject({
    values: z.union([text(1024), z.array(text(1024)).min(1).max(100)]).transform((values) => [values].flat()),
    matchType: z.enum(['exact', 'contains', 'containsAll', 'regex']).default('exact'),
  });
export type ClaimRule = z.output<ReturnType<typeof claimRule>>;

const claimRules = () => z.record(text(128), claimRule()).refine(...most(50));

const publicKey = () =>
  z.record(z.string().max(64), z.union([z.string().max(8_192), z.array(z.string().max(8_192)).max(20), z.boolean()]));

const jwtValidation = () =>
  z
    .strictObject({
      jwksUri: address().optional(),
      jwks: z.strictObject({ keys: z.array(publicKey()).min(1).max(50) }).optional(),
      introspectEndpoint: address().optional(),
      headerKey: headerName().default('Authorization'),
      algorithms: z
        .array(z.enum(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']))
        .min(1)
        .max(10)
        .default(['RS256']),
      clockTolerance: z.number().min(0).max(300).default(5),
      cacheMaxAge: z.int().min(0).max(604_800).default(86_400),
      maxTokenAge: z.union([z.int().min(1).max(31_536_000), text(20)]).optional(),
      introspectContentType: z
        .enum(['application/json', 'application/x-www-form-urlencoded'])
        .default('application/json'),
      introspectClientId: text(1024).optional(),
      introspectClientSecret: text(4096).optional(),
      introspectCacheMaxAge: z.int().min(0).max(86_400).default(0),
      requiredClaims: names(50).default([]),
      claimValues: claimRules().default({}),
      headerPayloadMatch: names(50).default([]),
    })
    .refine((value) => [value.jwksUri, value.jwks, value.introspectEndpoint].filter(Boolean).length === 1, {
      message: 'name exactly one of jwksUri, jwks and introspectEndpoint',
    });
export type JwtValidation = z.output<ReturnType<typeof jwtValidation>>;

const authenticationMethod = () => z.enum(['none', 'client_secret_post', 'client_secret_basic']);
const extraParameters = () => z.record(text(128), z.string().max(2048)).refine(...most(50));

/** Written by others, or ignored: sent along by people who copy a whole document. */
const ignoredOauthFields = ['redirect_uri', 'redirect_uris', 'jwks', 'jwks_uri', 'software_statement'] as const;

const oauthMetadata = () =>
  z
    .looseObject({
      client_id: text(2048).optional(),
      client_secret: text(4096).optional(),
      token_endpoint_auth_method: authenticationMethod().optional(),
      client_name: text(255).optional(),
      client_uri: address().optional(),
      logo_uri: address().optional(),
      contacts: names(20).optional(),
      tos_uri: address().optional(),
      policy_uri: address().optional(),
      software_id: text(255).optional(),
      software_version: text(255).optional(),
      scope: z.string().max(4096).optional(),
      grant_types: names(10).optional(),
      response_types: names(10).optional(),
      issuer: address().optional(),
      authorization_endpoint: address().optional(),
      token_endpoint: address().optional(),
      registration_endpoint: address().optional(),
      revocation_endpoint: address().optional(),
      scopes_supported: names(200).optional(),
      authorization_params: extraParameters().optional(),
    })
    .catchall(z.never({ error: 'is not a known field' }));

/** An identity provider at which callers sign in, in place of our own authorization server. */
const externalAuthConfig = () =>
  z.strictObject({
    issuer: address(),
    scope: z.string().max(4096).optional(),
    scopes_supported: names(200).optional(),
    authorization_endpoint: toldByIssuer(),
    token_endpoint: toldByIssuer(),
    revocation_endpoint: toldByIssuer(),
    registration_endpoint: toldByIssuer(),
    client_id: toldByIssuer(),
    client_secret: toldByIssuer(),
    response_types_supported: toldByIssuer(),
    grant_types_supported: toldByIssuer(),
    token_endpoint_auth_methods_supported: toldByIssuer(),
    code_challenge_methods_supported: toldByIssuer(),
    authorization_params: toldByIssuer(),
  });

/** Clients speak to the provider themselves: what is said of it here would reach none of them. */
const toldByIssuer = () =>
  z
    .never({ error: 'has no effect here: clients find it in the documents of the issuer, or are registered there' })
    .optional();

/** A wrapper written twice is a known slip, and fields that are ours to choose are left out. */
function tidiedOauthMetadata(sent: unknown): unknown {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return sent;
  const fields: Record<string, unknown> = { ...sent };
  const inner = fields.oauth_metadata;
  if (typeof inner === 'object' && inner !== null && Object.keys(fields).length === 1)
    return tidiedOauthMetadata(inner);
  for (const name of ignoredOauthFields) delete fields[name];
  return fields;
}

const largestDocument = 768 * 1024;

const circuitBreaker = () =>
  z.strictObject({
    enabled: z.boolean().default(true),
    failure_threshold: z.int().min(1).max(1_000).default(5),
    failure_rate: z.number().min(0.01).max(1).default(0.5),
    min_requests: z.int().min(1).max(10_000).default(10),
    window_ms: z.int().min(1_000).max(3_600_000).default(60_000),
    cooldown_ms: z.int().min(100).max(3_600_000).default(30_000),
  });
export type BreakerSettings = z.output<ReturnType<typeof circuitBreaker>>;
export const defaultBreaker: BreakerSettings = {
  enabled: true,
  failure_threshold: 5,
  failure_rate: 0.5,
  min_requests: 10,
  window_ms: 60_000,
  cooldown_ms: 30_000,
};

export const mcpSettingsShape = lazy(() => ({
  headers: headers(),
  passthrough_headers: headers(),
  forward_headers: forwardHeaders(),
  user_identity_forwarding: z.strictObject({
    method: z.enum(['claims_header', 'bearer', 'jwt_header']),
    include_claims: names(50).optional(),
    header_name: headerName().optional(),
    jwt_expiry_seconds: z.int().min(30).max(86_400).default(300),
  }),
  jwt_validation: jwtValidation(),
  oauth_metadata: z.preprocess(tidiedOauthMetadata, oauthMetadata()),
  external_auth_config: externalAuthConfig(),
  client_credentials: z.strictObject({
    client_id: text(2048),
    client_secret: text(4096),
    token_endpoint: address().optional(),
    scope: z.string().max(4096).optional(),
    audience: text(2048).optional(),
    auth_method: z.enum(['client_secret_post', 'client_secret_basic']).default('client_secret_post'),
  }),
  timeout_ms: z.int().min(100).max(86_400_000),
  retries: z.int().min(0).max(5),
  circuit_breaker: circuitBreaker(),
  rate_limit: z.strictObject({ value: z.int().min(1).max(1e9), unit: z.enum(['rpm', 'rph', 'rpd']) }),
  tool_authorization: z.record(text(255), z.strictObject({ required_claims: claimRules() })).refine(...most(500)),
  authorization_webhook: z.strictObject({
    url: address(),
    timeout_ms: z.int().min(50).max(30_000).default(1_000),
    on_error: z.enum(['deny', 'allow']).default('deny'),
    headers: headers().optional(),
  }),
  openapi: z.strictObject({
    document: z
      .union([z.string().min(1).max(largestDocument), z.record(z.string().max(255), z.unknown())])
      .transform((sent) => (typeof sent === 'string' ? sent : JSON.stringify(sent)))
      .refine((text) => text.length <= largestDocument, { message: `at most ${largestDocument} characters` })
      .describe('OpenAPI 3, as JSON or as text in JSON or YAML; references lead only within it'),
    operations: names(500).optional().describe('The operations that become tools; without it, all'),
  }),
  input_guardrails: names(50),
  output_guardrails: names(50),
  require_approval: names(500),
  log_payloads: z.boolean(),
  new_capabilities: z.enum(['enabled', 'disabled']),
  pin_tools: z.boolean(),
  tool_search: z.boolean(),
}));

const aliases = { custom_headers: 'headers', passthrough_header: 'passthrough_headers' } as const;

/** What may be saved, under older names too; null takes a setting away. */
export function sentSettings(shape: { headers: z.ZodType; passthrough_headers: z.ZodType }) {
  const named = { ...shape, custom_headers: shape.headers, passthrough_header: shape.passthrough_headers };
  return z.strictObject(Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, schema.nullish()])));
}
export const sentMcpSettings = lazy(() => sentSettings(mcpSettingsShape()));

/** The settings under their one name each. */
export function withoutAliases(sent: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const named: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(sent)) {
    const known = aliases[name as keyof typeof aliases] ?? name;
    if (known === name || sent[known] === undefined) named[known] = value;
  }
  return named;
}

/** Every name under which a setting may be sent. */
export const mcpSettingNames = (): string[] => [...Object.keys(mcpSettingsShape()), ...Object.keys(aliases)];

export const mcpSettings = lazy(() => z.strictObject(mcpSettingsShape()).partial());
export type McpSettings = z.output<ReturnType<typeof mcpSettings>>;
