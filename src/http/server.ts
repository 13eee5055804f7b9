/** The listener: hands each request to the plane that serves its path, and ends without dropping one. */
import http from 'node:http';
import { faultFields, type Log } from '../log.ts';
import { Underway } from '../underway.ts';
import type { Cors } from './cors.ts';
import { ApiError, badHost, errorResponse, noSuchRoute } from './errors.ts';
import { createSockets, type Upgrade, type Upgraded } from './sockets.ts';

/** The address at the other end of the connection, for those who ask. */
export type Peer = () => string;

/** Answers a request, or null when the path is not its own. */
export type Handler = (request: Request, peer: Peer) => Promise<Response | null> | Response | null;

type Handled = Response | Upgraded | null;

/** A handler that may also turn its request into a WebSocket. */
type UpgradingHandler = (request: Request, peer: Peer, upgrade: Upgrade) => Promise<Handled> | Handled;

/** Paths of PEM files. */
export interface TlsFiles {
  key: string;
  cert: string;
  /** Certificates between ours and one that clients know, where they do not stand in `cert`. */
  ca: string | null;
}

export interface Listener {
  url: string;
  port: number;
  /** Takes no more connections, lets requests under way end (`graceMs` at most), then closes. */
  stop(graceMs: number): Promise<void>;
}

interface ListenerParts {
  handlers: readonly UpgradingHandler[];
  /** Resolves when nothing goes on any more of what handlers have already answered, such as open streams. */
  idle(): Promise<void>;
  /** Without it no page of another origin may call. */
  cors?: Cors;
  log: Log;
}

export function listen(
  address: { host: string; port: number; tls?: TlsFiles | null },
  { handlers, idle, cors, log }: ListenerParts,
): Listener {
  const underway = new Underway();
  const sockets = createSockets(underway, log);

  const answer = async (request: Request, peer: Peer, upgrade: Upgrade): Promise<Response | Upgraded> => {
    for (const handler of handlers) {
      const handling = handler(request, peer, upgrade);
      const handled = handling instanceof Promise ? await handling : handling;
      if (handled) return handled;
    }
    return unknownPath(request);
  };

  // The runtime takes its bound from here, for this listener too.
  Object.assign(http, { maxHeaderSize: largestHeaders });
  const server = Bun.serve({
    hostname: address.host,
    port: address.port,
    idleTimeout: 0,
    // Faults are logged by us; the runtime would print them with source lines and upstream addresses.
    development: false,
    // Said aloud, because outside of development the runtime would share the port with a second gateway.
    reusePort: false,
    // Each plane bounds its own bodies; this is only the outermost wall.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    ...(address.tls && { tls: tlsOf(address.tls) }),
    websocket: sockets.handlers,
    async fetch(request, self) {
      const leave = underway.enter();
      try {
        const upgrade: Upgrade = (relay, headers) => self.upgrade(request, { data: relay, headers });
        const heard = addressed(request);
        if (!heard) return errorResponse(badHost(), Bun.randomUUIDv7());
        const permission = cors?.preflight(heard);
        if (permission) return permission;
        const answered = await answer(heard, () => self.requestIP(request)?.address ?? '', upgrade);
        if (answered === 'upgraded') return undefined;
        cors?.mark(heard, answered);
        return answered;
      } catch (fault) {
        const requestId = Bun.randomUUIDv7();
        log.error('A request failed outside every handler.', { request_id: requestId, ...faultFields(fault) });
        return errorResponse(new ApiError('AB04', 'Something went wrong on our side'), requestId);
      } finally {
        leave();
      }
    },
  });

  return {
    url: `${address.tls ? 'https' : 'http'}://${address.host.includes(':') ? `[${address.host}]` : address.host}:${server.port}`,
    port: server.port ?? address.port,
    async stop(graceMs) {
      const drained = server.stop(false);
      await within(graceMs, Promise.all([underway.none(), idle()]));
      sockets.dismissAll();
      // What is left are idle connections, replies being flushed, or requests that outlived their grace.
      await within(flushMs, drained);
      await server.stop(true);
    },
  };
}

const tlsOf = ({ key, cert, ca }: TlsFiles) => ({
  key: Bun.file(key),
  cert: Bun.file(cert),
  ...(ca !== null && { ca: Bun.file(ca) }),
});

/** Bytes of all headers together: a config may come in one of them, with up to 64 KiB. */
const largestHeaders = 96 * 1024;

const flushMs = 200;

/** Waits for `work`, but no longer than `ms`. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const timer = Promise.withResolvers<void>();
  const timeout = setTimeout(timer.resolve, ms);
  await Promise.race([work, timer.promise]);
  clearTimeout(timeout);
}

/** The request with a whole address; null when its Host header names no host. */
function addressed(request: Request): Request | null {
  if (URL.canParse(request.url)) return request;
  // Health checks in HTTP/1.0 send no Host, and need none.
  return request.headers.get('host') ? null : new Request(`http://localhost${request.url}`, request);
}

function unknownPath(request: Request): Response {
  const { pathname } = new URL(request.url);
  if (/^\/v[12](\/|$)/.test(pathname)) {
    return errorResponse(noSuchRoute(`No route ${request.method} ${pathname}; see /docs`), Bun.randomUUIDv7());
  }
  return Response.json({ message: `Nothing is served at ${pathname}; see /docs`, ok: false }, { status: 404 });
}
