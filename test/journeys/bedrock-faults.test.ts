/** Faults of Bedrock: refusals, exceptions as the first frame and in the middle of a stream, and streams that are cut. */
import { describe, expect, test } from 'bun:test';
import { APIError } from 'openai';
import { bedrockWorld, claude, nova, question } from '../bedrock-world.ts';
import { openaiClient } from '../clients.ts';
import { framesOf, known, refuses, says } from '../providers/bedrock.ts';
import { exceptionFrame, frames } from '../providers/event-stream.ts';

const { provider, world, client } = await bedrockWorld();

describe('faults', () => {
  test('of the service keep its status and its words', async () => {
    provider.script(refuses(429, 'ThrottlingException', 'Too many requests, please wait before trying again.'));
    const fault = await client.chat.completions.create(question).catch((error) => error);
    expect(fault).toBeInstanceOf(APIError);
    expect([fault.status, fault.message]).toEqual([
      429,
      '429 bedrock error: Too many requests, please wait before trying again.',
    ]);
  });

  const first = framesOf({ content: [{ text: 'Hello there' }] });
  const cases: [exception: string, status: number][] = [
    ['throttlingException', 429],
    ['validationException', 400],
    ['internalServerException', 500],
    ['serviceUnavailableException', 503],
    ['modelStreamErrorException', 424],
    ['modelTimeoutException', 408],
    ['modelNotReadyException', 429],
    ['accessDeniedException', 403],
  ];

  for (const [exception, status] of cases) {
    test(`${exception} as the first frame is answered with ${status}`, async () => {
      provider.script(known(frames([exceptionFrame(exception, 'It is not to be.')])));
      const fault = await client.chat.completions.create({ ...question, stream: true }).catch((error) => error);
      expect([fault.status, fault.message]).toEqual([status, `${status} bedrock error: It is not to be.`]);
    });
  }

  test('in the middle of a stream end it with an error, never as if it were complete', async () => {
    provider.script(known(frames([...first.slice(0, 3), exceptionFrame('modelStreamErrorException', 'Lost it.')])));
    const response = await world.call(
      '/v1/chat/completions',
      { ...question, stream: true },
      { 'x-gw-provider': '@aws' },
    );
    const text = await response.text();
    expect(text).toContain('bedrock error: Lost it.');
    expect(text).not.toContain('[DONE]');
    expect(text).not.toContain('"finish_reason":"stop"');
  });

  test('a stream that is cut before its end is not complete', async () => {
    provider.script(known(frames(first.slice(0, 3), 'cut')));
    const response = await world.call(
      '/v1/chat/completions',
      { ...question, stream: true },
      { 'x-gw-provider': '@aws' },
    );
    const text = await response.text();
    expect(text).toContain('stream_incomplete');
    expect(text).not.toContain('[DONE]');
  });

  test('a stream without its metadata is complete all the same', async () => {
    provider.script(known(frames(first.slice(0, -1))));
    const stream = client.chat.completions.stream({ ...question, stream: true });
    expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe('Hello there');
  });

  test('an exception as the first frame lets the next target answer', async () => {
    const config = await world.saveConfig({
      strategy: { mode: 'fallback' },
      targets: [
        { provider: '@aws', override_params: { model: claude } },
        { provider: '@aws', override_params: { model: nova } },
      ],
    });
    provider.script(known(frames([exceptionFrame('throttlingException', 'Slow down')])), says('From Nova'));
    const stream = openaiClient(world, { 'x-gw-config': config }).chat.completions.stream({
      ...question,
      stream: true,
    });
    expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe('From Nova');
    expect(provider.calls.map(({ path }) => path)).toEqual([
      `/model/${encodeURIComponent(claude)}/converse-stream`,
      `/model/${encodeURIComponent(nova)}/converse-stream`,
    ]);
  });
});
