/** Cross-origin calls from browsers: which origins the operator allows, and what they may send and read. Never with credentials of the browser. */

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
  preflight(request: Request): Response | null;
  /** Lets the page read the answer, where its origin is allowed. */
  mark(request: Request, response: Response): void;
}

/** How long a browser may rely on an answer, in seconds. */
const preflightKept = '600';

export function createCors({ origins, methods, headers, exposedHeaders }: CorsRules): Cors {
  const everyone = origins.includes('*');

  const allow = (request: Request, to: Headers): boolean => {
    const origin = request.headers.get('origin');
    if (!everyone) to.append('vary', 'origin');
    if (origin === null || !(everyone || origins.includes(origin))) return false;
    to.set('access-control-allow-origin', everyone ? '*' : origin);
    return true;
  };

  return {
    preflight(request) {
      if (request.method !== 'OPTIONS' || !request.headers.has('access-control-request-method')) return null;
      const answer = new Headers();
      if (allow(request, answer)) {
        const wanted = request.headers.get('access-control-request-headers') ?? '';
        answer.set('access-control-allow-methods', methods.join(', '));
        answer.set('access-control-allow-headers', headers.length === 0 ? wanted : headers.join(', '));
        answer.set('access-control-max-age', preflightKept);
      }
      return new Response(null, { status: 204, headers: answer });
    },
    mark(request, response) {
      if (origins.length === 0) return;
      if (allow(request, response.headers) && exposedHeaders.length > 0) {
        response.headers.set('access-control-expose-headers', exposedHeaders.join(', '));
      }
    },
  };
}
