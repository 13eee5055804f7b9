/** A session with Gemini Live as its translator sees it, for tests of what each side is told. */
import { geminiLive } from '../src/providers/google/live/live.ts';
import type { Relayed } from '../src/providers/provider.ts';
import { callFacts } from './call-facts.ts';
import type { Json } from './harness.ts';

export const native = 'gemini-2.5-flash-native-audio-latest';
export const restricted = 'gemini-3.1-flash-live-preview';
export const newest = 'gemini-3.8-live';

/** A session, and what each side is told by every step of it. */
export function begin(model = native, settings: Json | null = null) {
  const facts = callFacts({ model, body: { model: `@gem/${model}` } });
  const translator = geminiLive(({ model: named }) => ({ resource: `models/${named}`, labels: null }))(facts);
  const parsed = ({ toClient, toProvider }: Relayed) => ({
    client: toClient.map((text): Json => JSON.parse(text)),
    provider: toProvider.map((text): Json => JSON.parse(text)),
  });
  const all = (steps: Relayed[]) => {
    const told = steps.map(parsed);
    return { client: told.flatMap(({ client }) => client), provider: told.flatMap(({ provider }) => provider) };
  };
  const session = {
    translator,
    opened: parsed(translator.opened()).client,
    client: (...events: Json[]) => all(events.map((event) => translator.fromClient(JSON.stringify(event)))),
    provider: (...messages: Json[]) => all(messages.map((message) => translator.fromProvider(JSON.stringify(message)))),
    /** The setup that goes out with the first word, and Google's consent to it. */
    agree(...events: Json[]): Json {
      const { provider } = this.client(...(events.length > 0 ? events : [append]));
      this.provider({ setupComplete: {} });
      return provider[0].setup;
    },
  };
  if (settings) session.client(update(settings));
  return session;
}

export const append = { type: 'input_audio_buffer.append', audio: Buffer.alloc(4_800).toString('base64') };
export const create = { type: 'response.create' };
export const update = (session: Json) => ({ type: 'session.update', session: { type: 'realtime', ...session } });
export const item = (item: Json) => ({ type: 'conversation.item.create', item });
export const said = (text: string, role = 'user') =>
  item({ type: 'message', role, content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }] });
export const turn = (text: string, role = 'user') => ({ role, parts: [{ text }] });
export const types = (events: Json[]): string[] => events.map(({ type }) => type);
export const errorOf = (events: Json[]): Json => events.find(({ type }) => type === 'error')?.error;
export const sounds = {
  serverContent: { modelTurn: { parts: [{ inlineData: { mimeType: 'audio/pcm;rate=24000', data: 'AA' } }] } },
};
export const over = { serverContent: { turnComplete: true } };
