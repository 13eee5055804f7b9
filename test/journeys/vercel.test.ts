/** The Vercel AI SDK, unchanged, through its provider for OpenAI: text, streams, tools and errors on both of OpenAI's routes. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { APICallError, generateText, Output, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';
import { vercelClient } from '../clients.ts';
import { sharedByTests } from '../journey.ts';
import * as openai from '../providers/openai.ts';
import { respondsWith } from '../providers/responses.ts';
import { json, type SimulatedProvider, startProvider, stream } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;

beforeAll(async () => {
  provider = await startProvider(openai.says('Hello'));
  world = await startWorld({ a: { provider: 'openai', simulated: provider } });
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);

const chat = () => vercelClient(world, { 'x-gw-provider': '@a' }).chat('gpt-4o-mini');
const responses = () => vercelClient(world).responses('@a/gpt-4o-mini');

describe('generateText', () => {
  test('over chat completions', async () => {
    provider.script(openai.says('Hello', ' there'));
    const { text, usage, finishReason } = await generateText({ model: chat(), prompt: 'Say hello.', maxRetries: 0 });
    expect({ text, finishReason, total: usage.totalTokens }).toEqual({
      text: 'Hello there',
      finishReason: 'stop',
      total: 30,
    });
    expect(provider.calls[0]?.path).toBe('/v1/chat/completions');
  });

  test('over responses, which it uses by itself', async () => {
    provider.script(respondsWith('Hello', ' there'));
    const { text, usage } = await generateText({ model: responses(), prompt: 'Say hello.', maxRetries: 0 });
    expect({ text, total: usage.totalTokens }).toEqual({ text: 'Hello there', total: 18 });
    expect(provider.calls[0]).toMatchObject({ path: '/v1/responses', json: { model: 'gpt-4o-mini' } });
  });

  test('with a tool that is called and answered', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } };
    const whole = openai.completion('');
    const asksTool = {
      ...whole,
      choices: [
        {
          ...whole.choices[0],
          message: { role: 'assistant', content: null, tool_calls: [call] },
          finish_reason: 'tool_calls',
        },
      ],
    };
    provider.script(json(200, asksTool), openai.says('Sunny.'));
    const { text } = await generateText({
      model: chat(),
      prompt: 'The weather in Rome?',
      maxRetries: 0,
      stopWhen: stepCountIs(2),
      tools: {
        weather: tool({ inputSchema: z.object({ city: z.string() }), execute: ({ city }) => `sunny in ${city}` }),
      },
    });
    expect(text).toBe('Sunny.');
    expect(provider.calls[1]?.json.messages.at(-1)).toMatchObject({ role: 'tool', content: 'sunny in Rome' });
  });

  test('with an answer of a given form', async () => {
    provider.script(openai.says('{"city":"Rome"}'));
    const { output } = await generateText({
      model: chat(),
      prompt: 'Which city?',
      maxRetries: 0,
      output: Output.object({ schema: z.object({ city: z.string() }) }),
    });
    expect(output).toEqual({ city: 'Rome' });
    expect(provider.calls[0]?.json.response_format.type).toBe('json_schema');
  });
});

describe('streamText', () => {
  test('over chat completions', async () => {
    provider.script(openai.says('One', ' two'));
    const result = streamText({ model: chat(), prompt: 'Count.', maxRetries: 0 });
    const parts: string[] = [];
    for await (const part of result.textStream) parts.push(part);
    expect(parts).toEqual(['One', ' two']);
    expect((await result.usage).totalTokens).toBe(30);
    expect(await result.finishReason).toBe('stop');
  });

  test('over responses', async () => {
    provider.script(respondsWith('One', ' two'));
    const result = streamText({ model: responses(), prompt: 'Count.', maxRetries: 0 });
    const parts: string[] = [];
    for await (const part of result.textStream) parts.push(part);
    expect(parts).toEqual(['One', ' two']);
  });

  test('of a stream that breaks reports the error', async () => {
    const half = Promise.withResolvers<void>();
    provider.script(stream([openai.opening, openai.part('Half')], 'cut', half.promise));
    const errors: unknown[] = [];
    const result = streamText({
      model: chat(),
      prompt: 'Count.',
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    });
    const parts: string[] = [];
    for await (const part of result.textStream) {
      parts.push(part);
      half.resolve();
    }
    expect(parts).toEqual(['Half']);
    expect(JSON.stringify(errors)).toContain('stream_incomplete');
  });
});

test('errors of the provider and of the gateway are read with their words and status', async () => {
  provider.script(openai.contextOverflow);
  const failure = async (model: ReturnType<typeof chat>) => {
    const error = await generateText({ model, prompt: 'Hello', maxRetries: 0 }).catch((fault: unknown) => fault);
    if (!APICallError.isInstance(error)) throw new Error(`No error of the SDK: ${error}`);
    return error;
  };
  const theirs = await failure(chat());
  expect([theirs.statusCode, theirs.message]).toEqual([400, "This model's maximum context length is 128000 tokens."]);
  const ours = await failure(vercelClient(world).chat('@nobody/gpt-4o-mini'));
  expect(ours.statusCode).toBe(400);
  expect(ours.message).toContain('no provider "@nobody" in this workspace');
});
