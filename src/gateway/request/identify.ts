/** Key to caller: the organisation, the workspace, the scopes and the defaults that come with it. */
import type { WorkspaceCatalog } from '../../catalog/catalog.ts';
import { unknownRoute } from '../../http/reserved-paths.ts';
import { type KeyCaller, mayInWorkspace } from '../../identity/caller.ts';
import type { Scope } from '../../identity/scopes.ts';
import { digestOf } from '../../identity/secrets.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { CallDeps } from '../call-deps.ts';
import type { Arrival, Identified } from '../context.ts';
import { GatewayError } from '../errors.ts';
import type { OwnHeaders } from './headers.ts';
import type { GatewayRoute } from './routes.ts';

/** At once where key and workspace are in memory. */
export function identify(deps: CallDeps, arrival: Arrival): MaybePromise<Identified> {
  const key = credentialOf(arrival);
  const caller = deps.keyring.find(key.credential, key.digest);
  if (caller instanceof Promise) return looked(deps, arrival, key, caller);
  if (!caller) throw unknownKey(deps, key);
  const workspace = deps.catalog.workspace(workspaceOf(caller, arrival));
  if (workspace instanceof Promise) return looked(deps, arrival, key, Promise.resolve(caller));
  return standing(arrival, key, caller, workspace);
}

/** For a caller whom something else than a key vouches for, such as an OAuth token. */
export function identifyAs(
  deps: CallDeps,
  arrival: Arrival,
  { caller, credential, header }: { caller: KeyCaller; credential: string; header: string },
): MaybePromise<Identified> {
  const carried = { credential, digest: '', header, headers: headersWith(credential, arrival.own) };
  const workspace = deps.catalog.workspace(workspaceOf(caller, arrival));
  return workspace instanceof Promise
    ? workspace.then((found) => standing(arrival, carried, caller, found))
    : standing(arrival, carried, caller, workspace);
}

async function looked(
  deps: CallDeps,
  arrival: Arrival,
  key: CarriedKey,
  finding: Promise<KeyCaller | null>,
): Promise<Identified> {
  const caller = await finding;
  if (!caller) throw unknownKey(deps, key);
  return standing(arrival, key, caller, await deps.catalog.workspace(workspaceOf(caller, arrival)));
}

function standing(
  arrival: Arrival,
  { credential, header, headers }: CarriedKey,
  caller: KeyCaller,
  workspace: WorkspaceCatalog | null,
): Identified {
  if (!workspace) {
    throw new GatewayError('invalid_api_key', 'the workspace of this API key is gone', { field: header });
  }
  return {
    ...arrival,
    identifiedAt: performance.now(),
    query: queryWithout(credential, arrival),
    caller,
    workspace,
    credentialHeader: header,
    keyHeaders: headers,
  };
}

function unknownKey({ keyring }: CallDeps, { digest, header }: CarriedKey): GatewayError {
  const refused = keyring.whyRefused?.(digest);
  if (refused) return new GatewayError(refused.code, refused.message, { field: header });
  return keyring.hasExpired?.(digest)
    ? new GatewayError('expired_api_key', 'this API key has expired; make another, or move its end', { field: header })
    : new GatewayError('invalid_api_key', 'this API key is unknown or revoked', { field: header });
}

interface CarriedKey {
  credential: string;
  digest: string;
  /** The header that it was taken from. */
  header: string;
  /** Every other header that it stands in. */
  headers: ReadonlySet<string>;
}

const carriedKey = (credential: string, header: string, own: OwnHeaders): CarriedKey => ({
  credential,
  digest: digestOf(credential),
  header,
  headers: headersWith(credential, own),
});

/** Where the caller may make this call. */
function workspaceOf(caller: KeyCaller, { request, path, matched }: Arrival): string {
  if (caller.workspaceId === null) {
    // Whoever administers and asks for a path that nobody has has mistyped it.
    if (matched.route.kind === 'proxy' && !path.startsWith('/v1/proxy/')) {
      throw new GatewayError('unknown_route', unknownRoute(request.method, path), { field: 'path' });
    }
    throw new GatewayError(
      'key_type_not_allowed',
      `an admin key manages the organisation and makes no ${matched.route.scopes ? '' : 'model '}calls; use a workspace or user key`,
    );
  }
  requireScope(caller, caller.workspaceId, matched.route);
  return caller.workspaceId;
}

export function credentialOf({ own, query, matched }: Arrival): CarriedKey {
  const inHeaders = own.once(keyInHeaders);
  if (inHeaders) return inHeaders;
  const browser = matched.route.kind === 'realtime' ? browserCredential(own, query) : null;
  if (browser) return browser;
  throw new GatewayError('invalid_api_key', 'send your API key in the header x-gw-api-key', { field: 'x-gw-api-key' });
}

/** The first of these that is there; SDKs that can send nothing else carry our key in their own header. */
export function keyInHeaders(own: OwnHeaders): CarriedKey | null {
  const ours = own.get('api-key');
  if (ours) return carriedKey(ours, 'x-gw-api-key', own);
  const { authorization, 'x-api-key': apiKey } = own.fields;
  if (authorization) return carriedKey(authorization.replace(/^bearer\s+/i, ''), 'authorization', own);
  return apiKey ? carriedKey(apiKey, 'x-api-key', own) : null;
}

export const subprotocolPrefix = 'openai-insecure-api-key.';

/** Browsers cannot set headers on a WebSocket, so realtime also takes the key from the subprotocols or the query. */
function browserCredential(own: OwnHeaders, query: string): CarriedKey | null {
  const offered = own.fields['sec-websocket-protocol']?.split(',') ?? [];
  const carrier = offered.map((item) => item.trim()).find((item) => item.startsWith(subprotocolPrefix));
  if (carrier) return carriedKey(carrier.slice(subprotocolPrefix.length), 'sec-websocket-protocol', own);
  const inQuery = new URLSearchParams(query).get('api_key');
  return inQuery ? carriedKey(inQuery, 'api_key', own) : null;
}

const nowhereElse: ReadonlySet<string> = new Set();

/** SDKs that insist on a key of their own are often given ours a second time, under whatever name they have for it. */
function headersWith(credential: string, { fields }: OwnHeaders): ReadonlySet<string> {
  let carriers: Set<string> | null = null;
  for (const name in fields) {
    if (name === 'x-gw-api-key' || !fields[name]?.includes(credential)) continue;
    carriers ??= new Set();
    carriers.add(name);
  }
  return carriers ?? nowhereElse;
}

/** The query as it came, except for parameters that hold our key. A session's query is cleaned when its upstream is dialled. */
function queryWithout(credential: string, { query, matched }: Arrival): string {
  if (query === '' || matched.route.kind === 'realtime') return query;
  const parameters = query.slice(1).split('&');
  const kept = parameters.filter((parameter) => !decoded(parameter).includes(credential));
  if (kept.length === parameters.length) return query;
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}

function decoded(parameter: string): string {
  try {
    return decodeURIComponent(parameter);
  } catch {
    // Not written in percent-encoding, so that it means what it says.
    return parameter;
  }
}

const modelScopes: readonly Scope[] = ['models.list', 'completions.write', 'virtual_keys.list'];
const callScopes: readonly Scope[] = ['completions.write'];

const renderScopes: readonly Scope[] = ['prompts.render'];

/** The scopes of which a caller of the route needs one. */
export function scopesFor({ kind, prompt, scopes }: GatewayRoute): readonly Scope[] {
  const lists = kind === 'listModels' || kind === 'retrieveModel';
  return scopes ?? (prompt === 'render' ? renderScopes : lists ? modelScopes : callScopes);
}

function requireScope(caller: KeyCaller, workspaceId: string, route: GatewayRoute): void {
  const scopes = scopesFor(route);
  if (scopes.some((scope) => mayInWorkspace(caller, scope, workspaceId))) return;
  throw new GatewayError('insufficient_scope', `this API key needs the scope ${scopes.join(' or ')}`);
}
