/** Simulated clouds behind a gateway, asked with OpenAI's SDK. */
import { beforeAll } from 'bun:test';
import type { OpenAI } from 'openai';
import { openaiClient } from './clients.ts';
import { sharedByTests } from './journey.ts';
import { type Behaviour, type ReceivedCall, type SimulatedProvider, startProvider } from './providers/simulated.ts';
import { startWorld, type World } from './world.ts';

export interface Cloud {
  api: Behaviour;
  /** The path of its API. */
  below: string;
  fields?: object;
}

export const messages = [{ role: 'user' as const, content: 'Hello' }];

/** Starts the clouds for the tests of one file; each is saved under its own id. */
export function sharedClouds(apis: Record<string, Cloud>) {
  const simulated = new Map<string, SimulatedProvider>();
  const running: { world: World | null } = { world: null };
  const world = (): World => {
    if (!running.world) throw new Error('The clouds have not started');
    return running.world;
  };
  const client = () => openaiClient(world());
  beforeAll(async () => {
    const started = await startWorld({});
    running.world = started;
    for (const [id, { api, below, fields }] of Object.entries(apis)) {
      const provider = await startProvider(api);
      simulated.set(id, provider);
      const custom_host = provider.url.replace('/v1', below);
      await started.saveProvider(id, id, provider, { configurations: { custom_host, ...fields } });
    }
  });
  sharedByTests(
    () => world().gateway,
    () => simulated.values(),
  );

  const calls = (id: string): ReceivedCall[] => simulated.get(id)?.calls ?? [];
  const last = (id: string): ReceivedCall => {
    const call = calls(id).at(-1);
    if (!call) throw new Error(`${id} was not asked`);
    return call;
  };

  const said = async (model: string, more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}) =>
    client().chat.completions.create({ model, messages, ...more });
  const streamed = async (model: string, more: Partial<OpenAI.ChatCompletionCreateParamsStreaming> = {}) =>
    (
      await client()
        .chat.completions.stream({ model, messages, ...more, stream: true })
        .finalChatCompletion()
    ).choices[0]?.message.content;
  /** The words of a streamed completion, and why it ended. */
  const completed = async (model: string) => {
    let text = '';
    let finish: string | null = null;
    let tokens = 0;
    for await (const piece of await client().completions.create({ model, prompt: 'Hello', stream: true })) {
      text += piece.choices[0]?.text ?? '';
      finish = piece.choices[0]?.finish_reason ?? finish;
      tokens = piece.usage?.total_tokens ?? tokens;
    }
    return { text, finish, tokens };
  };

  return { simulated, world, client, calls, last, said, streamed, completed };
}
