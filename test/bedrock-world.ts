/** The whole program with a simulated Bedrock behind it, saved as `@aws` with keys and as `@aws-key` with an API key. */
import { afterAll, afterEach, beforeEach, expect } from 'bun:test';
import type OpenAI from 'openai';
import { openaiClient } from './clients.ts';
import type { Json } from './harness.ts';
import { apiKey, converses, keySettings, region, says, startBedrock, type Turn } from './providers/bedrock.ts';
import type { ReceivedCall, SimulatedProvider } from './providers/simulated.ts';
import { startWorld, type World } from './world.ts';

type Question = OpenAI.Chat.Completions.ChatCompletionCreateParamsNonStreaming;

interface BedrockWorld {
  provider: SimulatedProvider;
  world: World;
  client: OpenAI;
  /** The last call that Bedrock got. */
  received(): ReceivedCall;
  /** The answer, and what a client puts together from the stream of the same turn. */
  both(turn: Turn, body: Question, headers?: Record<string, string>): Promise<{ whole: Json; streamed: Json }>;
}

/** Starts it for the tests of one file, each of which finds a model that says hello. */
export async function bedrockWorld(): Promise<BedrockWorld> {
  const provider = await startBedrock(says('Hello'));
  const world = await startWorld({});
  await world.gateway.put('/v1/admin/organisation/settings', {
    data_plane_security_settings: { block_inline_config: false },
  });
  await world.saveProvider('aws', 'bedrock', provider, {
    configurations: { ...keySettings, custom_host: provider.url, aws_s3_bucket: 'bucket' },
  });
  await world.saveProvider('aws-key', 'bedrock', provider, {
    key: apiKey,
    configurations: { aws_auth_type: 'apiKey', aws_region: region, custom_host: provider.url },
  });
  const client = openaiClient(world, { 'x-gw-provider': '@aws' });
  afterAll(async () => {
    await world.stop();
    await provider.stop();
  });
  beforeEach(() => {
    provider.calls.length = 0;
    provider.script(says('Hello', ' there'));
  });
  afterEach(() => {
    expect(world.gateway.faults).toEqual([]);
  });
  return {
    provider,
    world,
    client,
    received() {
      const call = provider.calls.at(-1);
      if (!call) throw new Error('Bedrock was not asked');
      return call;
    },
    async both(turn, body, headers = {}) {
      provider.script(converses(turn));
      const whole = await client.chat.completions.create(body, { headers });
      const stream = client.chat.completions.stream(
        { ...body, stream: true, stream_options: { include_usage: true } },
        { headers },
      );
      return { whole, streamed: await stream.finalChatCompletion() };
    },
  };
}

export const claude = 'eu.anthropic.claude-sonnet-4-20250514-v1:0';
export const nova = 'eu.amazon.nova-pro-v1:0';
export const question = { model: claude, messages: [{ role: 'user' as const, content: 'Say hello.' }] };

export const tools: OpenAI.Chat.Completions.ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'weather',
      description: 'The weather in a city',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
  { type: 'function', function: { name: 'time', description: 'The time' } },
];
