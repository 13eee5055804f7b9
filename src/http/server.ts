/** The listener: hands each request to the plane that serves its path, and ends without dropping one. */

import { InFlight } from '../in-flight.ts';
import { faultFields, type Log, throttled } from '../log.ts';
import type { Incoming, Upgraded } from '../wire/server/incoming.ts';
import { HttpListener, type ListenerHost } from '../wire/server/listener.ts';
import type { Reply } from '../wire/server/reply.ts';
import type { RefusedHead } from '../wire/server/request-head.ts';
import type { Cors } from './cors.ts';
import { ApiError, errorReply, noSuchRoute } from './errors.ts';
import { unknownRoute } from './reserved-paths.ts';
import type { Handler } from './web.ts';

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
  /** Requests that are being served now. */
  readonly requests: number;
  /** Takes no more connections, lets requests under way end (`graceMs` at most), then closes. */
  stop(graceMs: number): Promise<void>;
}

interface ListenerParts {
  handlers: readonly Handler[];
  /** Resolves when nothing goes on any more of what handlers have already answered, such as open streams. */
  idle(): Promise<void>;
  /** Without it no page of another origin may call. */
  cors?: Cors;
  log: Log;
}

interface ListenAddress {
  host: string;
  port: number;
  tls?: TlsFiles | null;
}

const shortage =
  'No client can be let in because this process may open no further connection; raise its limit (ulimit -n).';

export function listen(address: ListenAddress, { handlers, idle, cors, log }: ListenerParts): Listener {
  const underway = new InFlight();
  const served = new InFlight();
  const warn = throttled((message) => log.warn(message));

  const answer = async (request: Incoming): Promise<Reply | Upgraded> => {
    underway.begin();
    served.begin();
    try {
      const permission = cors?.preflight(request);
      if (permission) return permission;
      for (const handler of handlers) {
        const serving = handler(request);
        const reply = serving && (await serving);
        if (reply) return cors && reply !== 'upgraded' ? cors.marked(request, reply) : reply;
      }
      return unknownPath(request);
    } catch (fault) {
      const requestId = Bun.randomUUIDv7();
      log.error('A request failed outside every handler.', { request_id: requestId, ...faultFields(fault) });
      return errorReply(new ApiError('AB04', 'Something went wrong on our side'), requestId);
    } finally {
      served.end();
      underway.end();
    }
  };

  const listener = listenerAt(address, {
    answer,
    refusal,
    opened: () => underway.enter(),
    failed: (fault) => log.error('A connection failed; it is cut.', faultFields(fault)),
    short: () => warn(shortage),
  });

  return {
    url: `${address.tls ? 'https' : 'http'}://${address.host.includes(':') ? `[${address.host}]` : address.host}:${listener.port}`,
    port: listener.port,
    get requests() {
      return served.count;
    },
    async stop(graceMs) {
      const until = performance.now() + graceMs;
      await listener.end(Math.min(lingerMs, graceMs));
      await within(graceMs, Promise.all([underway.none(), idle()]));
      listener.dismissSockets();
      await within(until - performance.now(), listener.said());
      // What is left are clients that have not left yet, or requests that outlived their grace.
      await within(leaveMs, listener.closed());
      listener.close();
    },
  };
}

/** The address is none of this machine, or the port none that it may use. */
export class CannotListenError extends Error {
  constructor(host: string, fault: unknown) {
    const reason = fault instanceof Error ? fault.message : String(fault);
    super(
      `Cannot listen at ${host} (${reason}); choose an address of this machine with --host or HOST, and a port that you may use with --port or PORT.`,
    );
  }
}

function listenerAt({ host, port, tls }: ListenAddress, answering: ListenerHost): HttpListener {
  try {
    return new HttpListener({ hostname: host, port, tls: tls ? tlsOf(tls) : null }, answering);
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'EADDRINUSE') {
      fault.message = `The port ${port} of ${host} is taken`;
      throw fault;
    }
    throw new CannotListenError(host, fault);
  }
}

const tlsOf = ({ key, cert, ca }: TlsFiles) => ({
  key: Bun.file(key),
  cert: Bun.file(cert),
  ...(ca !== null && { ca: Bun.file(ca) }),
});

/** Clients send requests that have not been read yet when the program is told to end. */
const lingerMs = 100;
const leaveMs = 200;

/** Waits for `work`, but no longer than `ms`. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const timer = Promise.withResolvers<void>();
  // The runtime warns of less than nothing.
  const timeout = setTimeout(timer.resolve, Math.max(0, ms));
  await Promise.race([work, timer.promise]);
  clearTimeout(timeout);
}

/** A request that nobody could read may have been meant for either plane. */
const refusal = ({ status, message }: RefusedHead) =>
  errorReply(new ApiError('AB01', `This request is not served: ${message}`, { status }), Bun.randomUUIDv7());

function unknownPath({ method, target }: Incoming): Reply {
  const [path = ''] = target.split('?', 1);
  if (/^\/v[12](\/|$)/.test(path)) {
    return errorReply(noSuchRoute(unknownRoute(method, path)), Bun.randomUUIDv7());
  }
  const body = Buffer.from(JSON.stringify({ message: `Nothing is served at ${path}; see /docs`, ok: false }));
  return { status: 404, headers: { 'content-type': 'application/json;charset=utf-8' }, body };
}
