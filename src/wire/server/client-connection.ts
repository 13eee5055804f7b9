/** One client's connection: its requests are read one after the other, and each is answered before the next is begun. */
import type { Socket } from 'bun';
import type { Bytes } from '../client/collected.ts';
import { closedByClient, tooLate } from '../fault.ts';
import { BodyFrames } from '../http1/body-frames.ts';
import { type Flow, IncomingBody } from '../http1/incoming-body.ts';
import { Outgoing } from '../http1/outgoing.ts';
import { acceptance } from '../websocket/handshake.ts';
import type { Relay } from '../websocket/relay.ts';
import { ServerSocket } from '../websocket/server-socket.ts';
import { BodyDelivery, type DeliveredBody } from './body-delivery.ts';
import type { Host } from './host.ts';
import type { Upgraded } from './incoming.ts';
import { announced, type BodySource, headOf, isBodiless, type Reply } from './reply.ts';
import { beginsNoHead, RefusedHead, type RequestHead } from './request-head.ts';
import { ServedRequest } from './served-request.ts';
import { timeoutMs } from './timeouts.ts';

/** Bytes of a head. A config may come in one of the headers, with up to 64 KiB. */
const longestHead = 96 * 1024;
/** What may come behind a request that is not answered yet. */
const mostAhead = 64 * 1024;
const blankLine = Buffer.from('\r\n\r\n');
const goOn = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');

/** What a WebSocket is told when something went wrong on our side. */
const unexpected = 1011;
const cr = 13;
const lf = 10;
const nothing = Buffer.alloc(0);

export class ClientConnection implements Flow, DeliveredBody {
  readonly peer: string;
  readonly #host: Host<ClientConnection>;
  readonly #socket: Socket<ClientConnection>;
  readonly #outgoing: Outgoing;
  /** What came of the next head, or behind the request that is under way. */
  #ahead: Buffer<ArrayBuffer> | null = null;
  #request: ServedRequest | null = null;
  /** Null when the body of the request is complete, or it has none. */
  #frames: BodyFrames | null = null;
  /** Null when nobody reads it. */
  #body: IncomingBody | null = null;
  #source: BodySource | null = null;
  #webSocket: ServerSocket | null = null;
  #answered = false;
  #persists = true;
  #paused = false;
  /** What comes is not read any more. */
  #deaf = false;
  /** Nothing more will be said. */
  #leaving = false;
  #closed = false;
  /** When it is cut off, if nothing happens before. */
  #until: number;
  /** Since when it takes nothing of what waits for it. */
  #stuckSince = Number.POSITIVE_INFINITY;

  constructor(socket: Socket<ClientConnection>, host: Host<ClientConnection>) {
    // A socket that is closed has forgotten it.
    this.peer = socket.remoteAddress;
    this.#socket = socket;
    this.#host = host;
    this.#outgoing = new Outgoing(socket);
    this.#until = performance.now() + (host.secure ? timeoutMs.handshake : timeoutMs.idle);
  }

  get secure(): boolean {
    return this.#host.secure;
  }

  /** TLS has begun. */
  secured(): void {
    if (!this.#request && !this.#leaving) this.#until = performance.now() + timeoutMs.idle;
  }

  received(bytes: Buffer<ArrayBuffer>): void {
    try {
      if (this.#webSocket) this.#webSocket.received(bytes);
      else if (!this.#deaf) this.#receive(bytes);
    } catch (fault) {
      this.#fail(fault);
    }
  }

  drained(): void {
    this.#stuckSince = Number.POSITIVE_INFINITY;
    try {
      this.#outgoing.drain();
      if (this.#outgoing.done) this.#webSocket?.drained();
    } catch (fault) {
      this.#fail(fault);
    }
  }

  /** It is closed, by whomever. */
  lost(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#outgoing.close();
    this.#host.gone(this);
    this.#body?.break(closedByClient());
    this.#tell(() => this.#webSocket?.gone());
    this.#tell(() => this.#source?.left());
    if (!this.#answered) this.#tell(() => this.#request?.leave());
  }

  /** Cuts off a client that takes too long. */
  tick(now: number): void {
    try {
      if (this.#webSocket && !this.#leaving) this.#webSocket.tick(now);
      else if (now >= this.#until || this.#isStuck(now)) this.terminate();
    } catch (fault) {
      this.#fail(fault);
    }
  }

  /** Some of what was said has not gone yet. */
  get speaks(): boolean {
    return !this.#closed && !this.#outgoing.done;
  }

  /** A connection without a request is of no more use: the listener ends, or others need its place. */
  dismiss(): void {
    if (!this.#request && !this.#webSocket) this.#closeGracefully();
  }

  /** Those who had our last words may still read them. */
  terminate(): void {
    if (this.#leaving) this.#socket.close();
    else this.#cut();
  }

  pause(): void {
    if (this.#closed || this.#paused) return;
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (this.#closed || !this.#paused) return;
    this.#paused = false;
    this.#socket.resume();
  }

  /** Nobody reads the rest of the body: it is taken and forgotten, because a client that still sends would not hear the answer. */
  abandon(): void {
    // Whoever still has it must not touch the connection any more, which may serve another request by then.
    this.#body?.break(tooLate());
    this.#body = null;
    this.resume();
  }

  upgrade(request: ServedRequest, relay: Relay, headers: Readonly<Record<string, string>>): boolean {
    const accepted = request.head.old ? null : acceptance(request.method, request.headers.fields, headers);
    if (accepted === null || this.#closed || this.#request !== request || this.#frames) return false;
    this.#until = Number.POSITIVE_INFINITY;
    this.#answered = true;
    this.resume();
    this.#outgoing.send(accepted, null);
    const line = {
      // The head goes first.
      write: (bytes: Uint8Array) => (this.#outgoing.done ? this.#socket.write(bytes) : 0),
      pause: () => this.pause(),
      resume: () => this.resume(),
      end: () => this.#closeGracefully(),
      terminate: () => this.#cut(),
    };
    const webSocket = new ServerSocket(line, relay, this.#host.opened(relay));
    this.#webSocket = webSocket;
    try {
      relay.opened(webSocket);
    } catch (fault) {
      this.#fail(fault);
    }
    const ahead = this.#ahead;
    this.#ahead = null;
    if (ahead) this.received(ahead);
    return true;
  }

  #receive(bytes: Buffer<ArrayBuffer>): void {
    const rest = this.#frames ? this.#receiveBody(this.#frames, bytes) : bytes;
    if (rest.length === 0 || this.#deaf) return;
    this.#ahead = this.#ahead ? Buffer.concat([this.#ahead, rest]) : rest;
    if (!this.#request) this.#begin();
    else if (this.#ahead.length > mostAhead) this.pause();
  }

  /** What comes behind the body. */
  #receiveBody(frames: BodyFrames, bytes: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
    let piece: Bytes | null;
    try {
      piece = frames.push(bytes);
    } catch (fault) {
      this.#unreadable(fault);
      return nothing;
    }
    if (piece?.length) this.#body?.push(piece);
    if (frames.endedAt < 0) return nothing;
    const rest = frames.endedAt === bytes.length ? nothing : bytes.subarray(frames.endedAt);
    this.#frames = null;
    this.#body?.complete();
    this.#body = null;
    this.resume();
    if (this.#answered) this.#finish();
    return rest;
  }

  /** Where a body ends that cannot be read, nobody knows: nothing behind it counts. */
  #unreadable(fault: unknown): void {
    this.#persists = false;
    this.#deaf = true;
    this.#frames = null;
    this.#body?.break(fault);
    this.#body = null;
    if (this.#answered) this.#finish();
  }

  /** Reads the next head, if it is complete. */
  #begin(): void {
    const opening = this.#ahead;
    if (!opening) return;
    // Some clients end a body with a line break that nobody counted.
    const start = opening[0] === cr && opening[1] === lf ? 2 : 0;
    const end = opening.indexOf(blankLine, start);
    if ((end < 0 ? opening.length : end) > longestHead) {
      this.#refuse(new RefusedHead(431, `the headers are larger than ${longestHead} bytes`));
      return;
    }
    if (end < 0) {
      if (beginsNoHead(opening, start)) this.#refuse(new RefusedHead(400, 'the request line cannot be read'));
      else if (this.#until > performance.now() + timeoutMs.head) this.#until = performance.now() + timeoutMs.head;
      return;
    }
    let head: RequestHead;
    try {
      head = this.#host.heads.read(opening.toString('latin1', start, end + 2));
    } catch (fault) {
      if (!(fault instanceof RefusedHead)) throw fault;
      this.#refuse(fault);
      return;
    }
    this.#ahead = null;
    this.#until = Number.POSITIVE_INFINITY;
    this.#answered = false;
    this.#persists = head.persists;
    this.#serve(head, opening.subarray(end + blankLine.length));
  }

  #serve(head: RequestHead, rest: Buffer<ArrayBuffer>): void {
    const body = head.framing && new IncomingBody(this);
    const request = new ServedRequest(head, body, this);
    this.#request = request;
    if (head.framing) {
      this.#frames = new BodyFrames(head.framing);
      this.#body = body;
    }
    if (rest.length > 0) this.#receive(rest);
    if (head.waits && this.#frames) this.#outgoing.write(goOn);
    this.#host.answer(request).then(
      (reply) => this.#request && this.#answer(this.#request, reply),
      (fault) => this.#fail(fault),
    );
  }

  #answer(request: ServedRequest, reply: Reply | Upgraded): void {
    if (reply === 'upgraded') return;
    const { body } = reply;
    if (this.#closed || this.#leaving) {
      if (body && !(body instanceof Uint8Array)) body.left();
      return;
    }
    if (this.#host.ending || reply.headers.connection === 'close') this.#persists = false;
    try {
      if (body === null || body instanceof Uint8Array) this.#send(request, reply, body);
      else this.#stream(request, reply, body);
    } catch (fault) {
      this.#fail(fault);
    }
  }

  #send({ method, head }: ServedRequest, reply: Reply, body: Bytes | null): void {
    const bodiless = isBodiless(reply);
    // What a HEAD is answered tells of a body that is not sent.
    const length = body?.length ?? (method === 'HEAD' ? announced(reply) : 0);
    const told = headOf(reply, bodiless ? 'none' : { length }, this.#persists, head.old);
    this.#outgoing.send(told, method === 'HEAD' || bodiless ? null : body);
    this.#said();
  }

  #stream(request: ServedRequest, reply: Reply, source: BodySource): void {
    if (request.method === 'HEAD' || isBodiless(reply)) {
      source.left();
      this.#send(request, reply, null);
      return;
    }
    const { old } = request.head;
    const length = announced(reply);
    const inChunks = length === null && !old;
    if (length === null && old) this.#persists = false;
    const framing = inChunks ? 'chunks' : length === null ? 'close' : { length };
    this.#source = source;
    const head = headOf(reply, framing, this.#persists, old);
    const delivery = new BodyDelivery(this.#outgoing, head, inChunks, length, this);
    source.deliver(delivery);
    delivery.flush();
  }

  /** All of the body was handed over. */
  delivered(): void {
    this.#source = null;
    if (this.#closed) return;
    try {
      this.#said();
    } catch (fault) {
      this.#fail(fault);
    }
  }

  /** A body that broke off must not look like a whole one. */
  brokeOff(): void {
    this.#cut();
  }

  /** The reply is complete, though some of it may still wait. */
  #said(): void {
    if (this.#outgoing.done) this.#replied();
    else void this.#outgoing.room().then(() => this.#replied());
  }

  /** The reply is on its way. */
  #replied(): void {
    if (this.#closed) return;
    this.#answered = true;
    if (!this.#frames) {
      this.#finish();
      return;
    }
    this.#until = performance.now() + timeoutMs.rest;
    this.abandon();
  }

  /** Request and reply are done with. */
  #finish(): void {
    this.#request = null;
    if (!this.#persists || this.#host.ending) {
      this.#closeGracefully();
      return;
    }
    this.#until = performance.now() + timeoutMs.idle;
    this.resume();
    this.#begin();
  }

  #refuse(refused: RefusedHead): void {
    this.#persists = false;
    this.#deaf = true;
    const reply = this.#host.refusal(refused);
    this.#outgoing.send(headOf(reply, { length: reply.body.length }, false), reply.body);
    this.#said();
  }

  /** Ends our side. What the client still sends is taken, because a connection that is closed over it would lose our last words. */
  #closeGracefully(): void {
    if (this.#closed || this.#leaving) return;
    this.#leaving = true;
    this.#deaf = true;
    this.#ahead = null;
    this.#until = performance.now() + timeoutMs.closing;
    this.resume();
    this.#socket.shutdown();
  }

  #isStuck(now: number): boolean {
    this.#stuckSince = this.#outgoing.done ? Number.POSITIVE_INFINITY : Math.min(this.#stuckSince, now);
    return now - this.#stuckSince >= timeoutMs.stuck;
  }

  #fail(fault: unknown): void {
    this.#host.failed(fault);
    if (this.#webSocket) this.#webSocket.close(unexpected);
    else this.#cut();
  }

  /** What one of them throws must not keep the news from the others. */
  #tell(news: () => void): void {
    try {
      news();
    } catch (fault) {
      this.#host.failed(fault);
    }
  }

  #cut(): void {
    if (this.#closed) return;
    this.#socket.terminate();
    this.lost();
  }
}
