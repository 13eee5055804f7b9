/** Handlers that speak the web's own Request and Response, behind a listener that does not. */
import { ReceivedHeaders } from '../wire/client/answer.ts';
import type { Bytes } from '../wire/client/collected.ts';
import { streamOf } from '../wire/client/streamed.ts';
import type { Incoming, Upgraded } from '../wire/server/incoming.ts';
import { type BodySource, bodyBy, type Reply } from '../wire/server/reply.ts';

/** Answers a request, or null when the path is not its own. */
export type Handler = (request: Incoming) => Promise<Reply | Upgraded | null> | null;

/** The address at the other end of the connection, for those who ask. */
export type Peer = () => string;

export type WebHandler = (request: Request, peer: Peer) => Promise<Response | null> | Response | null;

/** The first of them whose path it is. */
export const onWeb =
  (...handlers: WebHandler[]): Handler =>
  async (incoming) => {
    if (!speakable.has(incoming.method)) return null;
    const request = webRequest(incoming);
    for (const handler of handlers) {
      const response = await handler(request, () => incoming.peer);
      if (response) return replyOf(response);
    }
    return null;
  };

/** Others the web's Request refuses, writes in another way or takes for GET. */
const speakable: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export function webRequest(incoming: Incoming): Request {
  const { method, target, headers, length, body } = incoming;
  const scheme = incoming.secure ? 'https' : 'http';
  const url = `${scheme}://${headers.get('host') || 'localhost'}${target.startsWith('/') ? target : `/${target}`}`;
  const bodiless = body === null || method === 'GET' || method === 'HEAD';
  return new Request(url, {
    method,
    headers: length === null ? headers.fields : { ...headers.fields, 'content-length': String(length) },
    ...(!bodiless && { body: streamOf(body), duplex: 'half' }),
  });
}

/** A body that is there in one piece is told with its length; one that is still being made leaves as it comes. */
export async function replyOf(response: Response): Promise<Reply> {
  const { status, headers, body } = response;
  const { 'set-cookie': cookies, ...fields } = headers.toJSON();
  const told = { status, headers: fields, ...(cookies && { cookies }) };
  if (!body) return { ...told, body: null };
  const reader = body.getReader();
  const begun: Bytes[] = [];
  let next = reader.read();
  while (begun.length < 2) {
    const part = await soon(next);
    if (!part) break;
    if (part.done) return { ...told, body: begun[0] ?? new Uint8Array() };
    begun.push(part.value);
    next = reader.read();
  }
  // It is told to whoever reads on.
  next.catch(() => undefined);
  return { ...told, body: sourceOf(reader, begun, next) };
}

/** Null when it takes longer than what is there already. */
const soon = <T>(work: Promise<T>): Promise<T | null> =>
  Promise.race([work, new Promise<null>((resolve) => setImmediate(resolve, null))]);

type Read = Awaited<ReturnType<ReadableStreamDefaultReader<Bytes>['read']>>;

/** `begun` has been read from it already, and `next` is being read. */
function sourceOf(
  reader: ReadableStreamDefaultReader<Bytes>,
  begun: readonly Bytes[],
  next: Promise<Read>,
): BodySource {
  let over = false;
  return bodyBy(
    async (to) => {
      for (const piece of begun) await to.write(piece);
      for (let part = await next; !part.done && !over; part = await reader.read()) await to.write(part.value);
    },
    () => {
      over = true;
      // A source that cannot be stopped has nothing to tell that matters now.
      reader.cancel().catch(() => undefined);
    },
  );
}

/** The same reply as the web knows it. */
export function responseOf({ status, headers, cookies = [], body }: Reply): Response {
  const told = new Headers(headers);
  for (const cookie of cookies) told.append('set-cookie', cookie);
  return new Response(body === null || body instanceof Uint8Array ? body : delivered(body), { status, headers: told });
}

function delivered(source: BodySource): ReadableStream<Uint8Array> {
  let taken: (() => void) | null = null;
  let over = false;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        source.deliver({
          write(bytes) {
            if (over) return undefined;
            controller.enqueue(bytes);
            if ((controller.desiredSize ?? 0) > 0) return undefined;
            return new Promise((resolve) => {
              taken = resolve;
            });
          },
          end: () => void (over || controller.close()),
          cut: (fault) => controller.error(fault),
        });
      },
      pull() {
        taken?.();
        taken = null;
      },
      cancel() {
        over = true;
        source.left();
        taken?.();
      },
    },
    { highWaterMark: 1 },
  );
}

/** A request that came over no connection: its client leaves when its signal says so. */
export function incomingOf(request: Request): Incoming {
  const { pathname, search } = new URL(request.url);
  const { signal } = request;
  return {
    method: request.method,
    target: pathname + search,
    headers: new ReceivedHeaders(request.headers.toJSON()),
    length: null,
    body: request.body?.getReader() ?? null,
    secure: false,
    peer: '127.0.0.1',
    gone: signal,
    get left() {
      return signal.aborted;
    },
    onLeave: (listener) => signal.addEventListener('abort', listener, { once: true }),
    upgrade: () => false,
  };
}
