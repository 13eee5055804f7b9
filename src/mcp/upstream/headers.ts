/** The headers of a call to an upstream: what the client's headers add, what the integration sets, and who is calling. */
import { digestOf } from '../../catalog/digest.ts';
import type { McpSettings } from '../../catalog/mcp/settings.ts';
import { ofConnection } from '../../wire/http1/token.ts';
import type { UpstreamIdentity } from '../principal.ts';

/** Credentials, identities and what belongs to one connection or session: no rule forwards them, under no name. */
const neverForwarded: ReadonlySet<string> = new Set([
  ...ofConnection,
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'x-gw-api-key',
  'api-key',
  'apikey',
  'x-auth-token',
  'x-access-token',
  'x-user-claims',
  'x-user-jwt',
  'host',
  'content-length',
  'content-type',
  'accept',
  'accept-encoding',
  'expect',
  'upgrade',
  'te',
  'trailer',
  'origin',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'last-event-id',
]);

export const mayForward = (name: string): boolean =>
  !neverForwarded.has(name) &&
  !name.startsWith('x-gw-') &&
  !name.startsWith('mcp-param-') &&
  !name.startsWith('x-forwarded-');

/** Signs who the caller is, for upstreams that check it. */
export type SignIdentity = (claims: Readonly<Record<string, unknown>>, seconds: number) => Promise<string>;

const defaultClaims = ['sub', 'email', 'username', 'user_id', 'workspace_id', 'organisation_id', 'scope', 'client_id'];

/** Later ones win: the client's, the integration's, the fixed ones, the identity. */
export async function upstreamHeaders(
  settings: McpSettings,
  identity: UpstreamIdentity,
  sign: SignIdentity,
): Promise<Record<string, string>> {
  const headers = forwarded(settings.forward_headers, identity.headers);
  for (const set of [settings.headers, settings.passthrough_headers]) {
    for (const [name, value] of Object.entries(set ?? {})) headers[name.toLowerCase()] = value;
  }
  const rule = settings.user_identity_forwarding;
  if (!rule) return headers;
  if (rule.method === 'bearer') {
    if (identity.bearer !== null)
      headers[(rule.header_name ?? 'authorization').toLowerCase()] = `Bearer ${identity.bearer}`;
    return headers;
  }
  const claims = chosen(identity.claims, rule.include_claims ?? defaultClaims);
  if (rule.method === 'claims_header') {
    headers[(rule.header_name ?? 'x-user-claims').toLowerCase()] = asciiJson(claims);
  } else {
    headers[(rule.header_name ?? 'x-user-jwt').toLowerCase()] = await sign(claims, rule.jwt_expiry_seconds);
  }
  return headers;
}

/** By what a caller hands on, connections and answers of callers are told apart; empty where nothing is handed on. */
export function forwardedDigest(settings: McpSettings, { headers, bearer, claims }: UpstreamIdentity): string {
  const { forward_headers, user_identity_forwarding: identity } = settings;
  if (!forward_headers && !identity) return '';
  const told = identity?.method === 'bearer' ? bearer : identity && claims;
  return digestOf([forwarded(forward_headers, headers), told ?? null]);
}

function forwarded(
  rule: McpSettings['forward_headers'],
  sent: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (!rule) return headers;
  const entries = rule.headers.map((entry) => (typeof entry === 'string' ? { from: entry, to: entry } : entry));
  if (rule.mode === 'all-except') {
    const excluded = new Set(entries.map(({ from }) => from.toLowerCase()));
    for (const [name, value] of Object.entries(sent))
      if (mayForward(name) && !excluded.has(name)) headers[name] = value;
    return headers;
  }
  for (const { from, to } of entries) {
    const value = sent[from.toLowerCase()];
    if (value !== undefined && mayForward(from.toLowerCase()) && mayForward(to.toLowerCase()))
      headers[to.toLowerCase()] = value;
  }
  return headers;
}

const chosen = (claims: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.flatMap((name) => (claims[name] == null ? [] : [[name, claims[name]]])));

/** A header carries ASCII; JSON can say every other character in it. */
const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
