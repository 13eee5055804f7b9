/** Web pages and MCP servers: any origin may call unless the operator lists those that may, and never with the browser's own credentials. */
import type { Cors } from '../http/cors.ts';
import type { Incoming } from '../wire/server/incoming.ts';
import type { Reply } from '../wire/server/reply.ts';

const exposed = 'Mcp-Session-Id, WWW-Authenticate, Retry-After';
const wellKnown = /^\/(\.well-known\/oauth-|oauth\/(register|token|revoke))/;

export function mcpCors(others: Cors, allowed: readonly string[], isMcp: (target: string) => boolean): Cors {
  const isOurs = ({ target }: Incoming): boolean => isMcp(target) || wellKnown.test(target);

  const originFor = (request: Incoming): string | null => {
    const origin = request.headers.get('origin');
    if (origin === null) return null;
    if (allowed.length === 0 || allowed.includes('*')) return '*';
    return allowed.includes(origin) ? origin : null;
  };

  return {
    preflight(request) {
      if (!isOurs(request) || request.method !== 'OPTIONS') return others.preflight(request);
      const origin = originFor(request);
      if (origin === null) return { status: 204, headers: { vary: 'origin' }, body: null };
      return {
        status: 204,
        headers: {
          'access-control-allow-origin': origin,
          'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
          'access-control-allow-headers':
            request.headers.get('access-control-request-headers') ??
            'Authorization, Content-Type, Mcp-Session-Id, Mcp-Protocol-Version, Last-Event-ID, x-gw-api-key',
          'access-control-max-age': '600',
          vary: 'origin',
        },
        body: null,
      };
    },
    marked(request, reply): Reply {
      if (!isOurs(request)) return others.marked(request, reply);
      const origin = originFor(request);
      if (origin === null) return reply;
      return {
        ...reply,
        headers: { ...reply.headers, 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed },
      };
    },
  };
}
