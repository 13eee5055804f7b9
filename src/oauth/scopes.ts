/** The scopes of our authorization server. */
import { OauthError } from './errors.ts';

/** `mcp` is everything; `mcp:read` lists, reads and calls tools that change nothing. */
export const supportedScopes: ReadonlySet<string> = new Set(['mcp', 'mcp:read', 'mcp:write']);

/** The scopes that are asked for, all of them among those that may be; without any, `mcp`. */
export function requestedScopes(asked: string | null, allowed: ReadonlySet<string>): string[] {
  const scopes = [...new Set((asked ?? '').split(' ').filter(Boolean))];
  if (scopes.length === 0) return allowed.has('mcp') ? ['mcp'] : [...allowed];
  const unknown = scopes.find((scope) => !supportedScopes.has(scope) || !allowed.has(scope));
  if (unknown) throw new OauthError('invalid_scope', `the scope ${unknown.slice(0, 100)} cannot be asked for`);
  return scopes;
}
