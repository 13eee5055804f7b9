/** Who calls an MCP server. */
import type { WorkspaceCatalog } from '../catalog/catalog.ts';
import type { KeyCaller } from '../identity/caller.ts';

export interface Principal {
  /** Sessions are bound to it: the key's id, or that of the grant behind an OAuth token. */
  id: string;
  authType: 'api_key' | 'oauth' | 'jwt' | 'external';
  caller: KeyCaller;
  workspace: WorkspaceCatalog;
  /** Null for keys that belong to nobody. */
  userId: string | null;
  /** OAuth scopes; null: everything that the credential may do at all. */
  scopes: ReadonlySet<string> | null;
  /** Who the caller is, in the words of tokens. */
  claims: Claims;
  /** What the caller sent as a bearer; handed on only where the integration says so. */
  bearer: string | null;
}

export type Claims = Readonly<Record<string, unknown>>;

/** Who an upstream knows us as: one identity for all, or one for each person. */
export interface UpstreamIdentity {
  /** Connections with the same key may be shared. */
  key: string;
  userId: string | null;
  claims: Claims;
  bearer: string | null;
  /** Where the caller's browser finds us; null where nobody is there to sign in. */
  origin: string | null;
  /** The client's own headers, of which some may be forwarded; by their names in lower case. */
  headers: Readonly<Record<string, string>>;
}
