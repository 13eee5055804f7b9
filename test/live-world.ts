/** The whole program with Gemini's Live API behind it and the realtime client of OpenAI's SDK in front: `@gem` and `@wrong` are AI Studio with a good key and a bad one, `@vtx` is Vertex AI. */
import { afterEach, beforeAll } from 'bun:test';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import type { Json } from './harness.ts';
import { sharedByTests } from './journey.ts';
import { type LiveSession, type SimulatedLive, startLive } from './providers/gemini-live.ts';
import type { CloseFrame } from './providers/realtime.ts';
import * as vertex from './providers/vertex.ts';
import { startTlsFront, type TlsFront } from './servers/tls-front.ts';
import { startWorld, type World } from './world.ts';

/** The SDK's client, with everything that it is told in order. */
class LiveClient {
  readonly socket: OpenAIRealtimeWS;
  readonly closed: Promise<CloseFrame>;
  readonly #arrived: Json[] = [];
  #waiting: ((event: Json) => void) | null = null;

  constructor(socket: OpenAIRealtimeWS) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      socket.socket.on('close', (code: number, reason: Buffer) => resolve({ code, reason: String(reason) }));
    });
    socket.on('event', (event) => {
      if (this.#waiting) this.#waiting(event);
      else this.#arrived.push(event);
      this.#waiting = null;
    });
    // They are among the events; without a listener the SDK throws them.
    socket.on('error', () => undefined);
  }

  next(): Promise<Json> {
    const event = this.#arrived.shift();
    if (event) return Promise.resolve(event);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  /** The events up to the first one of this type, which comes last. */
  async until(type: string): Promise<Json[]> {
    const events: Json[] = [];
    do events.push(await this.next());
    while (events.at(-1).type !== type);
    return events;
  }

  async event(type: string): Promise<Json> {
    return (await this.until(type)).at(-1);
  }

  send(...events: Json[]): void {
    for (const event of events) this.socket.send(event);
  }

  ask(text: string): void {
    this.send(
      {
        type: 'conversation.item.create',
        item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
      },
      { type: 'response.create' },
    );
  }
}

interface Opened {
  client: LiveClient;
  traceId: string;
  /** The provider's side of it. */
  live: LiveSession;
}

interface LiveWorld {
  readonly world: World;
  readonly provider: SimulatedLive;
  connect(model: string, headers?: Record<string, string>): Promise<{ client: LiveClient; traceId: string }>;
  /** Settles the session, where there is something to settle. */
  open(model?: string, session?: Json, headers?: Record<string, string>): Promise<Opened>;
}

export const native = 'gemini-2.5-flash-native-audio-latest';
/** One of those that still answer with text. */
export const older = 'gemini-2.0-flash-live-001';

/** Started before the tests of a file, ended behind them. */
export function liveWorld(): LiveWorld {
  let provider: SimulatedLive;
  let world: World;
  /** The SDK takes no plain address. */
  let front: TlsFront;
  let traces = 0;
  beforeAll(async () => {
    provider = startLive();
    world = await startWorld({});
    front = await startTlsFront(world.gateway.url);
    await world.saveProvider('gem', 'google', provider);
    await world.saveProvider('wrong', 'google', provider);
    const configurations = { custom_host: provider.url, ...vertex.settings, vertex_map_metadata: true };
    await world.saveProvider('vtx', 'vertex-ai', provider, { key: 'ya29.token', configurations });
  });
  const stop = async () => {
    front.stop();
    await provider.stop();
  };
  sharedByTests(
    () => world.gateway,
    () => [{ calls: [], stop }],
  );
  afterEach(() => provider.hesitate(false));

  const connect: LiveWorld['connect'] = async (model, headers = {}) => {
    const traceId = `live-${++traces}`;
    const options = { headers: { 'x-gw-trace-id': traceId, ...headers }, rejectUnauthorized: false };
    const gateway = { apiKey: world.gateway.workspaceKey, baseURL: `${front.url}/v1` };
    const client = new LiveClient(new OpenAIRealtimeWS({ model, options }, gateway));
    await client.event('session.created');
    return { client, traceId };
  };
  return {
    get world() {
      return world;
    },
    get provider() {
      return provider;
    },
    connect,
    async open(model = `@gem/${native}`, session = null, headers = {}) {
      const opening = provider.session();
      const connected = await connect(model, headers);
      if (session) {
        connected.client.send({ type: 'session.update', session: { type: 'realtime', ...session } });
        await connected.client.event('session.updated');
      }
      return { ...connected, live: await opening };
    },
  };
}

export async function leave({ client, live }: Opened): Promise<void> {
  client.socket.close();
  await Promise.all([client.closed, live.closed]);
}
