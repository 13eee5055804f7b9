/** Who holds the tokens with which upstreams are called. */
import type { McpUpstream } from '../../catalog/mcp/server.ts';
import type { McpError } from '../errors.ts';

export interface UpstreamToken {
  token: string;
  /** It was renewed for this call. */
  refreshed: boolean;
}

/** For whom a token is wanted, and where their browser finds us. */
export interface TokenHolder {
  userId: string | null;
  /** Null where nobody is there to sign in. */
  origin: string | null;
}

export interface UpstreamTokens {
  /**
   * The bearer for this upstream; null where it takes none. `refused`: the one that the upstream does not take any more.
   * Throws `authorization_required` where a person must sign in first.
   */
  bearer(upstream: McpUpstream, holder: TokenHolder, refused: string | null): Promise<UpstreamToken | null>;
  /** The upstream refused us and told where its authorization server is described. */
  learn(upstream: McpUpstream, wwwAuthenticate: string | null): void;
  /** The upstream wants more than the person allowed: the error that asks them for it; null where asking would not help. */
  wider(upstream: McpUpstream, holder: TokenHolder, wwwAuthenticate: string | null): Promise<McpError | null>;
}
