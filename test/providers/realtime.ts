/** OpenAI's realtime API for tests: a real WebSocket server on loopback that speaks its events, and that a test can also drive by hand. */
import type { Json } from '../harness.ts';

export type Frame = string | Buffer<ArrayBuffer>;

export interface CloseFrame {
  code: number;
  reason: string;
}

/** One session that the provider accepted. */
export class RealtimeSession {
  readonly path: string;
  readonly query: string;
  readonly headers: Record<string, string>;
  readonly socket: Bun.ServerWebSocket<RealtimeSession>;
  /** How the caller left. */
  readonly closed: Promise<CloseFrame>;
  pings = 0;
  readonly #arrived: Frame[] = [];
  #waiting: ((frame: Frame) => void) | null = null;
  #leave: (closeFrame: CloseFrame) => void = () => undefined;

  constructor(request: Handshake, socket: Bun.ServerWebSocket<RealtimeSession>) {
    this.path = request.path;
    this.query = request.query;
    this.headers = request.headers;
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      this.#leave = resolve;
    });
  }

  /** The next frame that the caller sends. */
  next(): Promise<Frame> {
    const frame = this.#arrived.shift();
    if (frame !== undefined) return Promise.resolve(frame);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  receive(frame: Frame): void {
    if (!this.#waiting) this.#arrived.push(frame);
    else {
      this.#waiting(frame);
      this.#waiting = null;
    }
  }

  left(closeFrame: CloseFrame): void {
    this.#leave(closeFrame);
  }
}

export interface Handshake {
  path: string;
  query: string;
  headers: Record<string, string>;
}

/** Sessions as they are opened, for tests that wait for the next one. */
export class Openings<Session> {
  readonly #opened: Session[] = [];
  #waiting: ((session: Session) => void) | null = null;

  add(session: Session): void {
    if (this.#waiting) this.#waiting(session);
    else this.#opened.push(session);
    this.#waiting = null;
  }

  next(): Promise<Session> {
    const session = this.#opened.shift();
    if (session) return Promise.resolve(session);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }
}

export interface SimulatedRealtime {
  /** The address to save as custom host, version segment included. */
  url: string;
  /** Every handshake that arrived, refused ones included. */
  handshakes: Handshake[];
  /** Refuses the next handshakes with this status, except those that are let in; null accepts all again. */
  refuse(status: number | null, except?: (handshake: Handshake) => boolean): void;
  /** Leaves handshakes without an answer, or answers again. */
  ignore(ignores: boolean): void;
  /** The next session that is opened. */
  session(): Promise<RealtimeSession>;
  stop(): Promise<void>;
}

export function startRealtime(): SimulatedRealtime {
  const handshakes: Handshake[] = [];
  const openings = new Openings<RealtimeSession>();
  let refusal: number | null = null;
  let isExcepted: (handshake: Handshake) => boolean = () => false;
  let silent = false;

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request, self) {
      const { pathname, search } = new URL(request.url);
      const handshake = { path: pathname, query: search, headers: Object.fromEntries(request.headers) };
      handshakes.push(handshake);
      if (silent) return new Promise<Response>(() => undefined);
      if (refusal !== null && !isExcepted(handshake)) return Response.json(refused(refusal), { status: refusal });
      const offered = request.headers.get('sec-websocket-protocol') ?? '';
      // It takes `realtime` when it is offered, and nothing else.
      const headers = { 'sec-websocket-protocol': /(^|,\s*)realtime(,|$)/.test(offered) ? 'realtime' : '' };
      return self.upgrade(request, { data: handshake, headers }) ? undefined : new Response(null, { status: 400 });
    },
    websocket: {
      data: {} as Handshake | RealtimeSession,
      maxPayloadLength: 64 * 1024 * 1024,
      backpressureLimit: 0,
      open(socket) {
        if (socket.data instanceof RealtimeSession) throw new Error('A session opens once');
        const own = socket as Bun.ServerWebSocket<RealtimeSession>;
        const session = new RealtimeSession(socket.data, own);
        own.data = session;
        own.send(JSON.stringify(sessionEvent('session.created')));
        openings.add(session);
      },
      message(socket, frame) {
        if (!(socket.data instanceof RealtimeSession)) throw new Error('The session is not open');
        socket.data.receive(frame);
        for (const event of answerTo(frame)) socket.send(JSON.stringify(event));
      },
      ping(socket) {
        if (socket.data instanceof RealtimeSession) socket.data.pings++;
      },
      close(socket, code, reason) {
        if (socket.data instanceof RealtimeSession) socket.data.left({ code, reason });
      },
    },
  });

  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    handshakes,
    refuse: (status, except = () => false) => {
      refusal = status;
      isExcepted = except;
    },
    ignore: (ignores) => {
      silent = ignores;
    },
    session: () => openings.next(),
    stop: () => server.stop(true),
  };
}

const refused = (status: number) => ({
  error: { message: `Refused with ${status}`, type: 'invalid_request_error', code: 'refused', param: null },
});

const sessionEvent = (type: string) => ({
  type,
  event_id: 'event_1',
  session: { id: 'sess_1', object: 'realtime.session', model: 'gpt-realtime', modalities: ['text', 'audio'] },
});

const userItem = {
  id: 'item_1',
  object: 'realtime.item',
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text: 'Say hello.' }],
};

const usage = {
  total_tokens: 253,
  input_tokens: 132,
  output_tokens: 121,
  input_token_details: { text_tokens: 119, audio_tokens: 13, cached_tokens: 64 },
  output_token_details: { text_tokens: 30, audio_tokens: 91 },
};

export const responseDone = (status = 'completed') => ({
  type: 'response.done',
  event_id: 'event_9',
  response: {
    object: 'realtime.response',
    id: 'resp_1',
    status,
    status_details: null,
    output: [{ id: 'item_2', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] }],
    usage,
  },
});

/** What the provider says to an event of the caller's; frames that are no events of its API it leaves to the test. */
function answerTo(frame: Frame): Json[] {
  switch (typeOf(frame)) {
    case 'session.update':
      return [sessionEvent('session.updated')];
    case 'conversation.item.create':
      return [{ type: 'conversation.item.created', event_id: 'event_2', previous_item_id: null, item: userItem }];
    case 'response.create':
      return [
        { type: 'response.created', event_id: 'event_7', response: { id: 'resp_1', status: 'in_progress' } },
        { type: 'response.text.delta', event_id: 'event_8', response_id: 'resp_1', delta: 'Hello.' },
        responseDone(),
      ];
    case 'nonsense':
      return [{ type: 'error', event_id: 'event_3', error: { type: 'invalid_request_error', code: 'invalid_event' } }];
    default:
      return [];
  }
}

function typeOf(frame: Frame): string | null {
  if (typeof frame !== 'string' || !frame.startsWith('{')) return null;
  const event: Json = JSON.parse(frame);
  return typeof event.type === 'string' ? event.type : null;
}
