/** What tests of the HTTP server have in common: listeners and clients that end with their test, and no fault that nobody hears. */
import { afterAll, afterEach, beforeAll, expect } from 'bun:test';
import type { Bytes } from '../../src/wire/client/collected.ts';
import { collected } from '../../src/wire/client/collected.ts';
import type { Incoming, Upgraded } from '../../src/wire/server/incoming.ts';
import { HttpListener } from '../../src/wire/server/listener.ts';
import { type BodySource, bodyBy, type Reply, type Sink } from '../../src/wire/server/reply.ts';
import type { Certificate } from './certificates.ts';
import { type HttpClient, httpClient } from './http-client.ts';

export type Answer = (request: Incoming) => Promise<Reply | Upgraded> | Reply | Upgraded;

interface Serving {
  listener: HttpListener;
  /** What reached the handler, as `METHOD target`, in order. */
  asked: string[];
  /** Faults that a connection was cut for. */
  failed: unknown[];
  client(manner?: { reads?: boolean }): Promise<HttpClient>;
}

/** To be called where a test file begins. */
export function httpWorld(): { serve(answer: Answer, tls?: Certificate | null): Serving } {
  const servings: Serving[] = [];
  const clients: HttpClient[] = [];
  const unheard: unknown[] = [];
  const note = (fault: unknown) => unheard.push(fault);
  beforeAll(() => {
    process.on('unhandledRejection', note);
    process.on('uncaughtException', note);
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.socket.destroy();
    for (const { listener } of servings.splice(0)) listener.close();
    expect(unheard.splice(0)).toEqual([]);
  });
  afterAll(() => {
    process.off('unhandledRejection', note);
    process.off('uncaughtException', note);
  });
  return {
    serve(answer, tls = null) {
      const asked: string[] = [];
      const failed: unknown[] = [];
      const listener = new HttpListener(
        { hostname: '127.0.0.1', port: 0, tls, ticks: false },
        {
          async answer(request) {
            asked.push(`${request.method} ${request.target}`);
            return answer(request);
          },
          refusal: ({ status, message }) => ({ ...said(message), status }),
          failed: (fault) => failed.push(fault),
          opened: () => () => undefined,
          short: () => undefined,
        },
      );
      const serving: Serving = {
        listener,
        asked,
        failed,
        async client(manner) {
          const client = await httpClient(listener.port, { tls: tls !== null, ...manner });
          clients.push(client);
          return client;
        },
      };
      servings.push(serving);
      return serving;
    },
  };
}

export const said = (text: string, headers: Record<string, string> = {}): Reply & { body: Bytes } => ({
  status: 200,
  headers,
  body: Buffer.from(text, 'latin1'),
});

export const bodyOf = async ({ body }: Incoming): Promise<string> =>
  body ? Buffer.from(await collected(body, 1e9)).toString('latin1') : '';

/** Tells what was asked, with the body that came. */
export const echo: Answer = async (request) => said(`${request.method} ${request.target} ${await bodyOf(request)}`);

/** Answers when the test says so. */
export class Held {
  readonly #arrivals: ((request: Incoming) => void)[] = [];
  readonly #arrived: Incoming[] = [];
  readonly #replies = new Map<Incoming, (reply: Reply) => void>();

  readonly answer: Answer = (request) =>
    new Promise<Reply>((resolve) => {
      this.#replies.set(request, resolve);
      const waiting = this.#arrivals.shift();
      if (waiting) waiting(request);
      else this.#arrived.push(request);
    });

  next(): Promise<Incoming> {
    const arrived = this.#arrived.shift();
    return arrived ? Promise.resolve(arrived) : new Promise((resolve) => this.#arrivals.push(resolve));
  }

  reply(request: Incoming, reply: Reply): void {
    this.#replies.get(request)?.(reply);
  }
}

/** A body that the test makes by hand. */
export class HandMade implements BodySource {
  lefts = 0;
  readonly #begun = Promise.withResolvers<Sink>();
  #to: Sink | null = null;

  /** Where its pieces go, once somebody takes them. */
  get sink(): Promise<Sink> {
    return this.#begun.promise;
  }

  deliver(to: Sink): void {
    this.#to = to;
    this.#begun.resolve(to);
  }

  left(): void {
    this.lefts++;
  }

  end(): void {
    this.#to?.end();
  }

  fail(): void {
    this.#to?.cut(new Error('the source broke'));
  }
}

/** A body in these pieces, each at the pace of the connection. */
export const inPieces = (...pieces: readonly string[]): BodySource =>
  bodyBy(
    async (to) => {
      for (const piece of pieces) await to.write(Buffer.from(piece, 'latin1'));
    },
    () => undefined,
  );

export const lines = (...written: string[]): string => `${written.join('\r\n')}\r\n\r\n`;

export const get = (path: string, ...headers: string[]): string => lines(`GET ${path} HTTP/1.1`, 'host: a', ...headers);

export const post = (path: string, body: string, ...headers: string[]): string =>
  lines(`POST ${path} HTTP/1.1`, 'host: a', `content-length: ${body.length}`, ...headers) + body;

/** Both ends are in this process: what was said before has been heard after it. */
export async function aMoment(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** The time that it will be. */
export const later = (ms: number): number => performance.now() + ms;
