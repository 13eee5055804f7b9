/** The listener: hands each request to the plane that serves its path, and ends without dropping one. */
import { faultFields, type Log } from '../log.ts';
import { ApiError, errorResponse, noSuchRoute } from './errors.ts';

/** Answers a request, or null when the path is not its own. */
export type Handler = (request: Request, peer: string) => Promise<Response | null> | Response | null;

export interface Listener {
  url: string;
  port: number;
  /** Takes no more connections, lets requests under way end (`graceMs` at most), then closes. */
  stop(graceMs: number): Promise<void>;
}

export function listen(address: { host: string; port: number }, handlers: readonly Handler[], log: Log): Listener {
  let underway = 0;
  let idle: (() => void) | null = null;

  const answer = async (request: Request, peer: string): Promise<Response> => {
    for (const handler of handlers) {
      const response = await handler(request, peer);
      if (response) return response;
    }
    return unknownPath(request);
  };

  const server = Bun.serve({
    hostname: address.host,
    port: address.port,
    idleTimeout: 0,
    // Each plane bounds its own bodies; this is only the outermost wall.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    async fetch(request, self) {
      underway++;
      try {
        return await answer(request, self.requestIP(request)?.address ?? '');
      } catch (fault) {
        const requestId = Bun.randomUUIDv7();
        log.error('A request failed outside every handler.', { request_id: requestId, ...faultFields(fault) });
        return errorResponse(new ApiError('AB04', 'Something went wrong on our side'), requestId);
      } finally {
        underway--;
        if (underway === 0) idle?.();
      }
    },
  });

  return {
    url: `http://${address.host.includes(':') ? `[${address.host}]` : address.host}:${server.port}`,
    port: server.port ?? address.port,
    async stop(graceMs) {
      const drained = server.stop(false);
      if (underway > 0) {
        await Promise.race([new Promise<void>((resolve) => (idle = resolve)), Bun.sleep(graceMs)]);
      }
      // What is left are idle connections, replies being flushed, or requests that outlived their grace.
      await Promise.race([drained, Bun.sleep(200)]);
      await server.stop(true);
    },
  };
}

function unknownPath(request: Request): Response {
  const { pathname } = new URL(request.url);
  if (/^\/v[12](\/|$)/.test(pathname)) {
    return errorResponse(noSuchRoute(`No route ${request.method} ${pathname}; see /docs`), Bun.randomUUIDv7());
  }
  return Response.json({ message: `Nothing is served at ${pathname}; see /docs`, ok: false }, { status: 404 });
}
