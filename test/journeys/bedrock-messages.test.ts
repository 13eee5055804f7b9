/** The messages route over Bedrock with Anthropic's own SDK in front: Claude in its own dialect, every other model by Converse. */
import { describe, expect, test } from 'bun:test';
import { bedrockWorld } from '../bedrock-world.ts';
import { anthropicClient } from '../clients.ts';
import type { Json } from '../harness.ts';
import * as claudeWords from '../providers/anthropic.ts';
import { invokes, known, says } from '../providers/bedrock.ts';
import { exceptionFrame, frames } from '../providers/event-stream.ts';
import { json } from '../providers/simulated.ts';

const { provider, world, received } = await bedrockWorld();
const anthropic = anthropicClient(world, { 'x-gw-provider': '@aws' });

describe('Claude on the messages route', () => {
  const model = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
  const question = { model, max_tokens: 100, messages: [{ role: 'user' as const, content: 'Say hello.' }] };
  const answer = claudeWords.message([{ type: 'text', text: 'Hello' }]);

  test('is invoked in its own dialect, and answers as it is', async () => {
    provider.script(invokes(() => answer));
    const asked = {
      ...question,
      temperature: 0,
      top_p: 0,
      system: [
        { type: 'text' as const, text: 'Brief.', cache_control: { type: 'ephemeral' as const, ttl: '1h' as const } },
      ],
      something_new: { deep: [null] },
    };
    const given = await anthropic.beta.messages.create({ ...asked, betas: ['context-1m-2025-08-07'] });
    expect(given as Json).toEqual(answer);
    expect(received().path).toBe(`/model/${encodeURIComponent(model)}/invoke`);
    const { model: _, ...rest } = asked;
    expect(received().json).toEqual({
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: ['context-1m-2025-08-07'],
      ...rest,
    });
  });

  test('is guarded by what the client names, in headers that the signature covers', async () => {
    provider.script(invokes(() => answer));
    const asked: Json = {
      ...question,
      guardrailConfig: { guardrailIdentifier: 'gr-1', guardrailVersion: '2', trace: 'enabled' },
      performanceConfig: { latency: 'optimized' },
    };
    await anthropic.messages.create(asked);
    expect(received().headers).toMatchObject({
      'x-amzn-bedrock-guardrailidentifier': 'gr-1',
      'x-amzn-bedrock-guardrailversion': '2',
      'x-amzn-bedrock-trace': 'ENABLED',
      'x-amzn-bedrock-performanceconfig-latency': 'optimized',
    });
    expect(Object.keys(received().json).sort()).toEqual(['anthropic_version', 'max_tokens', 'messages']);
    expect(received().headers.authorization).toContain('x-amzn-bedrock-guardrailidentifier');
  });

  test('streams its own events out of the frames', async () => {
    const records = claudeWords
      .wholeStream(['Hello', ' there'])
      .map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 6)))
      .filter((record) => record.type !== 'ping');
    provider.script(invokes(() => records));
    const message = await anthropic.messages.stream(question).finalMessage();
    expect(message.content as Json).toEqual([{ type: 'text', text: 'Hello there' }]);
    expect(message.usage.output_tokens).toBe(15);
    expect(received().path).toBe(`/model/${encodeURIComponent(model)}/invoke-with-response-stream`);
    expect(received().json.stream).toBeUndefined();
  });

  test('reports an exception of its first frame with its status, in Anthropic’s form', async () => {
    provider.script(known(frames([exceptionFrame('serviceUnavailableException', 'Busy')])));
    const fault = await anthropic.messages.create({ ...question, stream: true }).catch((error) => error);
    expect([fault.status, fault.error.error.message]).toEqual([503, 'bedrock error: Busy']);
  });

  test('counts tokens by the id of the model itself', async () => {
    provider.script(known(json(200, { inputTokens: 14 })));
    const { max_tokens: _, ...counted } = question;
    expect(await anthropic.messages.countTokens(counted)).toEqual({ input_tokens: 14 });
    expect(received().path).toBe('/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/count-tokens');
    const { body } = received().json.input.invokeModel;
    expect(JSON.parse(Buffer.from(body, 'base64').toString())).toEqual({
      max_tokens: 1,
      anthropic_version: 'bedrock-2023-05-31',
      messages: question.messages,
    });
  });
});

describe('another model on the messages route', () => {
  test('is served by Converse', async () => {
    provider.script(says('Hello'));
    const answer = await anthropic.messages.create({
      model: 'eu.amazon.nova-pro-v1:0',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Say hello.' }],
    });
    expect(answer.content as Json).toMatchObject([{ type: 'text', text: 'Hello' }]);
    expect(received().path).toBe('/model/eu.amazon.nova-pro-v1%3A0/converse');
  });

  test('counts tokens in Converse’s words', async () => {
    provider.script(known(json(200, { inputTokens: 9 })));
    const counted = await anthropic.messages.countTokens({
      model: 'eu.amazon.nova-pro-v1:0',
      system: 'Brief.',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(counted).toEqual({ input_tokens: 9 });
    expect(received().json).toEqual({
      input: { converse: { messages: [{ role: 'user', content: [{ text: 'Hi' }] }], system: [{ text: 'Brief.' }] } },
    });
  });
});
