/** Gemini's Live API for tests: a real WebSocket server on loopback, at both of its addresses, that speaks its messages in binary frames. */
import type { Json } from '../harness.ts';
import { LiveRules } from './gemini-live-rules.ts';
import { type CloseFrame, type Frame, type Handshake, Openings, RealtimeSession } from './realtime.ts';

/** One session: what the caller sent, and what the model says. */
export class LiveSession {
  readonly #session: RealtimeSession;
  readonly rules: LiveRules;

  constructor(session: RealtimeSession, rules: LiveRules) {
    this.#session = session;
    this.rules = rules;
  }

  get path(): string {
    return this.#session.path;
  }

  get query(): string {
    return this.#session.query;
  }

  get headers(): Record<string, string> {
    return this.#session.headers;
  }

  /** How the caller left. */
  get closed(): Promise<CloseFrame> {
    return this.#session.closed;
  }

  /** The next message of the caller's. */
  async next(): Promise<Json> {
    return JSON.parse(String(await this.#session.next()));
  }

  say(...messages: Json[]): void {
    for (const message of messages) {
      if (message.setupComplete) this.rules.ready = true;
      for (const { id } of message.toolCall?.functionCalls ?? []) this.rules.calls.add(id);
      this.#session.socket.send(Buffer.from(`${JSON.stringify(message, null, 2)}\n`));
    }
  }

  close(code: number, reason = ''): void {
    this.#session.socket.close(code, reason);
  }

  /** Breaks off without a word. */
  vanish(): void {
    this.#session.socket.terminate();
  }

  receive(frame: Frame): void {
    const message: Json = JSON.parse(String(frame));
    this.#session.receive(frame);
    const refusal = this.rules.refusalOf(message);
    if (refusal) this.close(refusal.code, refusal.reason);
    else if (message.setup && !this.slow) this.say({ setupComplete: {} });
  }

  /** Leaves `setupComplete` to the test. */
  slow = false;

  left(closeFrame: CloseFrame): void {
    this.#session.left(closeFrame);
  }
}

export interface SimulatedLive {
  /** The address to save as custom host. */
  url: string;
  /** Every handshake that arrived, refused ones included. */
  handshakes: Handshake[];
  /** Makes the sessions to come wait with `setupComplete`, or not. */
  hesitate(slow: boolean): void;
  /** The next session that is opened. */
  session(): Promise<LiveSession>;
  stop(): Promise<void>;
}

const studioPath = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';
const vertexPath = '/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent';

interface Caller extends Handshake {
  vertex: boolean;
  /** Of AI Studio, which accepts everybody first. */
  closeFrame: CloseFrame | null;
}

export function startLive(): SimulatedLive {
  const handshakes: Handshake[] = [];
  const openings = new Openings<LiveSession>();
  let slow = false;

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request, self) {
      const { pathname, search, searchParams } = new URL(request.url);
      // Google's own SDK writes two slashes.
      const path = pathname.replace(/^\/\//, '/');
      const handshake = { path, query: search, headers: Object.fromEntries(request.headers) };
      handshakes.push(handshake);
      if (path !== studioPath && path !== vertexPath) return new Response('Not Found', { status: 404 });
      const vertex = path === vertexPath;
      if (vertex && !isVertexCaller(request.headers)) return new Response('Unauthorized', { status: 401 });
      const key = searchParams.get('key') ?? request.headers.get('x-goog-api-key');
      const data: Caller = { ...handshake, vertex, closeFrame: vertex ? null : keyFault(key) };
      return self.upgrade(request, { data }) ? undefined : new Response(null, { status: 400 });
    },
    websocket: {
      data: {} as Caller | LiveSession,
      maxPayloadLength: 64 * 1024 * 1024,
      backpressureLimit: 0,
      open(socket) {
        if (socket.data instanceof LiveSession) throw new Error('A session opens once');
        const { vertex, closeFrame } = socket.data;
        if (closeFrame) return socket.close(closeFrame.code, closeFrame.reason);
        const own = socket as unknown as Bun.ServerWebSocket<RealtimeSession>;
        const session = new LiveSession(new RealtimeSession(socket.data, own), new LiveRules(vertex));
        session.slow = slow;
        socket.data = session;
        openings.add(session);
      },
      message(socket, frame) {
        if (socket.data instanceof LiveSession) socket.data.receive(frame);
      },
      close(socket, code, reason) {
        if (socket.data instanceof LiveSession) socket.data.left({ code, reason });
      },
    },
  });

  return {
    url: `http://127.0.0.1:${server.port}`,
    handshakes,
    hesitate: (hesitates) => {
      slow = hesitates;
    },
    session: () => openings.next(),
    stop: () => server.stop(true),
  };
}

const isVertexCaller = (headers: Headers): boolean =>
  headers.get('authorization')?.startsWith('Bearer ya29.') === true || headers.has('x-goog-api-key');

function keyFault(key: string | null): CloseFrame | null {
  if (!key) return { code: 1008, reason: "Method doesn't allow unregistered callers." };
  return key.includes('wrong') ? { code: 1007, reason: 'API key not valid. Please pass a valid API key.' } : null;
}

const modelTurn = (part: Json): Json => ({ serverContent: { modelTurn: { role: 'model', parts: [part] } } });

export const says = (text: string): Json => modelTurn({ text });
export const sounds = (data: string): Json => modelTurn({ inlineData: { mimeType: 'audio/pcm;rate=24000', data } });
export const writesDown = (text: string): Json => ({ serverContent: { outputTranscription: { text } } });
export const hears = (text: string): Json => ({ serverContent: { inputTranscription: { text } } });
export const calls = (...functionCalls: Json[]): Json => ({ toolCall: { functionCalls } });

/** 40 tokens of text and 60 of speech in, 25 of speech out. */
export const usageMetadata = {
  promptTokenCount: 100,
  responseTokenCount: 25,
  totalTokenCount: 125,
  promptTokensDetails: [
    { modality: 'TEXT', tokenCount: 40 },
    { modality: 'AUDIO', tokenCount: 60 },
  ],
  responseTokensDetails: [{ modality: 'AUDIO', tokenCount: 25 }],
};

/** The end of a turn, in the messages that Google takes for it. */
export const turnEnds = (usage: Json = usageMetadata): Json[] => [
  { serverContent: { generationComplete: true } },
  { serverContent: { turnComplete: true }, usageMetadata: usage },
];
