/** Lets clients of another gateway use their own prefix for our headers: read as ours, and answered in kind. */
import type { WebHandler } from './web.ts';

const ownPrefix = 'x-gw-';

/** The handler behind it sees `x-gw-` alone. What stands under our own prefix wins over an alias. */
export function withHeaderAliases(aliases: readonly string[], handler: WebHandler): WebHandler {
  if (aliases.length === 0) return handler;
  return async (request, peer) => {
    const used = aliases.find((alias) => [...request.headers.keys()].some((name) => name.startsWith(alias)));
    if (used === undefined) return handler(request, peer);
    const response = await handler(new Request(request, { headers: renamed(request.headers, used, ownPrefix) }), peer);
    if (!response) return null;
    const { status, body } = response;
    return new Response(body, { status, headers: renamed(response.headers, ownPrefix, used) });
  };
}

function renamed(headers: Headers, from: string, to: string): Headers {
  const copy = new Headers(headers);
  for (const [name, value] of headers) {
    if (!name.startsWith(from)) continue;
    const other = to + name.slice(from.length);
    copy.delete(name);
    if (!copy.has(other)) copy.set(other, value);
  }
  return copy;
}
