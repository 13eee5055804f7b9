/** Cross-origin calls from browsers: which origins the operator allows, and what they may send and read. Never with credentials of the browser. */
import type { Incoming } from '../wire/server/incoming.ts';
import type { Reply } from '../wire/server/reply.ts';

export interface CorsRules {
  /** `*` allows every origin; none: no page of another origin may call. */
  origins: readonly string[];
  methods: readonly string[];
  /** None: whatever the browser asks for. */
  headers: readonly string[];
  exposedHeaders: readonly string[];
}

export interface Cors {
  /** The answer to a browser that asks what it may do, which it does without any key; null for all other requests. */
  preflight(request: Incoming): Reply | null;
  /** The reply such that the page can read it, where its origin is allowed. */
  marked(request: Incoming, reply: Reply): Reply;
}

/** How long a browser may rely on an answer, in seconds. */
const preflightKept = '600';

export function createCors({ origins, methods, headers, exposedHeaders }: CorsRules): Cors {
  const everyone = origins.includes('*');
  const varies = everyone ? {} : { vary: 'origin' };

  const allowed = (request: Incoming): string | null => {
    const origin = request.headers.get('origin');
    if (origin === null || !(everyone || origins.includes(origin))) return null;
    return everyone ? '*' : origin;
  };

  return {
    preflight(request) {
      if (request.method !== 'OPTIONS' || !request.headers.has('access-control-request-method')) return null;
      const origin = allowed(request);
      if (origin === null) return { status: 204, headers: varies, body: null };
      const wanted = request.headers.get('access-control-request-headers') ?? '';
      return {
        status: 204,
        headers: {
          ...varies,
          'access-control-allow-origin': origin,
          'access-control-allow-methods': methods.join(', '),
          'access-control-allow-headers': headers.length === 0 ? wanted : headers.join(', '),
          'access-control-max-age': preflightKept,
        },
        body: null,
      };
    },
    marked(request, reply) {
      if (origins.length === 0) return reply;
      const vary = everyone ? reply.headers.vary : [reply.headers.vary, 'origin'].filter(Boolean).join(', ');
      const origin = allowed(request);
      return {
        ...reply,
        headers: {
          ...reply.headers,
          ...(vary !== undefined && { vary }),
          ...(origin !== null && { 'access-control-allow-origin': origin }),
          ...(origin !== null &&
            exposedHeaders.length > 0 && { 'access-control-expose-headers': exposedHeaders.join(', ') }),
        },
      };
    },
  };
}
