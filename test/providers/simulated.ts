/** A model provider for tests: a real HTTP server on loopback that follows a script, down to framing, resets and silence. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Json } from '../harness.ts';

/** One call that the provider received. */
export interface ReceivedCall {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer;
  json: Json;
  /** Resolves when the caller has closed the connection before the answer was complete. */
  abandoned: Promise<void>;
}

/** What the provider does with a call. */
export type Behaviour = (call: ReceivedCall, response: ServerResponse) => void | Promise<void>;

export interface SimulatedProvider {
  /** The address to save as custom host, version segment included. */
  url: string;
  calls: ReceivedCall[];
  /** The behaviours of the next calls, in order; the last one stays. */
  script(...behaviours: Behaviour[]): void;
  stop(): Promise<void>;
}

export function lastCall({ calls }: Pick<SimulatedProvider, 'calls'>): ReceivedCall {
  const call = calls.at(-1);
  if (call) return call;
  throw new Error('The provider was not asked');
}

export async function startProvider(...behaviours: Behaviour[]): Promise<SimulatedProvider> {
  let script = [...behaviours];
  const calls: ReceivedCall[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    const call = await receive(request, response).catch(whenAborted);
    if (!call) return;
    calls.push(call);
    const behaviour = script.length > 1 ? script.shift() : script[0];
    if (!behaviour) throw new Error(`The simulated provider has no script for ${call.method} ${call.path}`);
    await behaviour(call, response);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    calls,
    script: (...next) => {
      script = next;
    },
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** A caller that breaks off while it sends has not called. */
function whenAborted(fault: unknown): null {
  if (fault instanceof Error && 'code' in fault && fault.code === 'ECONNRESET') return null;
  throw fault;
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<ReceivedCall> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
    body,
    json: parse(body),
    abandoned: new Promise((resolve) => {
      response.on('close', () => {
        if (!response.writableFinished) resolve();
      });
    }),
  };
}

function parse(body: Buffer): Json {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

const eventStream = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };

/** A JSON answer. */
export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Behaviour =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };

/** Exactly these bytes. */
export const bytes =
  (status: number, body: Buffer | string, headers: Record<string, string>): Behaviour =>
  (_, response) => {
    response.writeHead(status, headers);
    response.end(body);
  };

/** The connection is reset before anything was answered. */
export const reset: Behaviour = (_, response) => void response.socket?.resetAndDestroy();

/** Nothing ever comes. */
export const silence: Behaviour = () => undefined;

/** How a stream ends after its parts. */
type Ending = 'end' | 'cut' | 'stall';

/** A stream of these parts, written one by one; it ends when `until` says so. */
export const stream =
  (parts: readonly string[], ending: Ending = 'end', until: Promise<void> = Promise.resolve()): Behaviour =>
  async (_, response) => {
    response.writeHead(200, eventStream);
    response.flushHeaders();
    for (const part of parts) {
      response.write(part);
      // Lets each part leave on its own, as a model's tokens do.
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until;
    if (ending === 'end') response.end();
    // Closed in the middle of the body: what was written still arrives, the end never does.
    if (ending === 'cut') response.socket?.end();
  };

/** The stream's head comes at once, its first part only when `gate` opens. */
export const gated =
  (gate: Promise<void>, parts: readonly string[]): Behaviour =>
  async (_, response) => {
    response.writeHead(200, eventStream);
    response.flushHeaders();
    await gate;
    for (const part of parts) response.write(part);
    response.end();
  };
