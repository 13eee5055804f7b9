/** The environment variables of the MCP gateway and its authorization server. */
import { z } from 'zod';
import { list, listInSmallLetters, onUnlessOff, wholeNumber } from '../variable-fields.ts';

export const mcpVariables = () => ({
  MCP_ENABLED: onUnlessOff(),
  MCP_REQUEST_TIMEOUT_MS: wholeNumber(60_000, 100, 86_400_000),
  MCP_GATEWAY_BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
  MCP_POOL_MAX_LIFETIME_MS: wholeNumber(600_000, 1_000, 86_400_000),
  MCP_SERVER_SIDE_MAX_ITERATIONS: wholeNumber(10, 1, 50),
  MCP_ALLOWED_ORIGINS: list(),
  OAUTH_REDIRECT_SCHEME_ALLOWLIST: listInSmallLetters('cursor,vscode,vscode-insiders,claude,windsurf'),
  OAUTH_REDIRECT_HOST_ALLOWLIST: listInSmallLetters(),
  JWT_PRIVATE_KEY: z.string().min(64, 'must be an RSA private key in PEM').optional(),
});

type Variables = z.output<z.ZodObject<ReturnType<typeof mcpVariables>>>;

export interface McpEnvironment {
  enabled: boolean;
  /** Milliseconds for one call to an upstream. */
  requestTimeout: number;
  /** The public address of the MCP gateway; null: as the client reached us. */
  baseUrl: string | null;
  /** Milliseconds after which an upstream session that several clients share is opened anew. */
  poolLifetime: number;
  /** Model calls of one request whose tools the gateway executes. */
  mostIterations: number;
  /** Origins of pages that may call; empty: any. */
  allowedOrigins: readonly string[];
  redirectSchemes: readonly string[];
  redirectHosts: readonly string[];
  /** PEM of the key that signs identities for upstreams; null: one is made and kept. */
  privateKey: string | null;
}

export const mcpEnvironment = (values: Variables): McpEnvironment => ({
  enabled: values.MCP_ENABLED,
  requestTimeout: values.MCP_REQUEST_TIMEOUT_MS,
  baseUrl: values.MCP_GATEWAY_BASE_URL?.replace(/\/+$/, '') ?? null,
  poolLifetime: values.MCP_POOL_MAX_LIFETIME_MS,
  mostIterations: values.MCP_SERVER_SIDE_MAX_ITERATIONS,
  allowedOrigins: values.MCP_ALLOWED_ORIGINS,
  redirectSchemes: values.OAUTH_REDIRECT_SCHEME_ALLOWLIST,
  redirectHosts: values.OAUTH_REDIRECT_HOST_ALLOWLIST,
  privateKey: values.JWT_PRIVATE_KEY ?? null,
});
