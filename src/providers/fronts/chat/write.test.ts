import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../../../test/call-facts.ts';
import type { Json } from '../../../../test/harness.ts';
import type { AnswerChoice, AnswerEvent, AnswerPart, ChatAnswer } from '../../chat/answer.ts';
import { stepsOf } from '../../chat/replay.ts';
import type { CallFacts } from '../../provider.ts';
import { noUsage } from '../../usage.ts';
import { chatFront } from './chat.ts';

const choice = (parts: readonly AnswerPart[], more: Partial<AnswerChoice> = {}): AnswerChoice => ({
  index: 0,
  parts,
  finish: 'stop',
  providerFinish: 'end_turn',
  stopSequence: null,
  logprobs: null,
  annotations: [],
  extras: { safety: 1 },
  ...more,
});
const answer = (...choices: AnswerChoice[]): ChatAnswer => ({
  id: null,
  model: null,
  created: null,
  choices,
  usage: { ...noUsage, inputTokens: 20, outputTokens: 10, cacheReadTokens: 5, reasoningTokens: 3 },
  extras: { grounding: 1 },
});
const loose: Partial<CallFacts> = { strict: false };
const write = (given: ChatAnswer, more: Partial<CallFacts> = {}): Json => chatFront.write(given, callFacts(more));
const messageOf = (parts: readonly AnswerPart[], more: Partial<CallFacts> = {}): Json =>
  write(answer(choice(parts)), more).choices[0].message;
function stream(steps: readonly AnswerEvent[], more: Partial<CallFacts> = {}): Json[] {
  const writer = chatFront.writer(callFacts({ stream: true, ...more }));
  return [...steps.flatMap((step) => writer.write(step)), ...writer.end()].map(({ data }) =>
    data === '[DONE]' ? data : JSON.parse(data),
  );
}
const deltas = (steps: readonly AnswerEvent[], more: Partial<CallFacts> = {}): Json[] =>
  stream(steps, more).flatMap((chunk) => (chunk === '[DONE]' ? [] : chunk.choices.map(({ delta }: Json) => delta)));

const thinking: AnswerPart = { type: 'thinking', text: 'Hm.', signature: 's' };
const text: AnswerPart = { type: 'text', text: 'Hello' };
const called: AnswerPart = { type: 'tool-call', id: 'c1', name: 'f', arguments: '{"a":1}', signature: 'gem' };

describe('a whole answer', () => {
  test('keeps to OpenAI’s own fields where it must', () => {
    expect(write(answer(choice([thinking, text])))).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: callFacts().now(),
      model: 'model-1',
      provider: callFacts().provider,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: expect.objectContaining({ prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 }),
    });
  });

  test('shows thoughts, the provider’s words and its own fields where it need not', () => {
    expect(
      write(answer(choice([thinking, { type: 'redacted-thinking', content: 'blob' }, text])), loose),
    ).toMatchObject({
      grounding: 1,
      choices: [
        {
          safety: 1,
          finish_reason: 'end_turn',
          message: {
            content: 'Hello',
            reasoning_content: 'Hm.',
            content_blocks: [
              { type: 'thinking', thinking: 'Hm.', signature: 's' },
              { type: 'redacted_thinking', data: 'blob' },
              { type: 'text', text: 'Hello' },
            ],
          },
        },
      ],
    });
  });

  test('has no content beside a call or a refusal, and an empty one beside nothing', () => {
    expect(messageOf([called])).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}', thought_signature: 'gem' } },
      ],
    });
    expect(messageOf([{ type: 'refusal', text: 'No.' }])).toMatchObject({ content: null, refusal: 'No.' });
    expect(messageOf([]).content).toBe('');
  });

  test('tells calls as the client declared its tools', () => {
    const body = { functions: [{ name: 'f' }] };
    const legacy = write(answer(choice([called], { finish: 'tool_calls' })), { body });
    expect(legacy.choices[0]).toMatchObject({
      finish_reason: 'function_call',
      message: { function_call: { name: 'f', arguments: '{"a":1}' } },
    });
    expect(legacy.choices[0].message.tool_calls).toBeUndefined();
    const custom = { type: 'tool-call', id: 'c2', name: 'run', arguments: '{"input":"ls"}', signature: null } as const;
    expect(messageOf([custom], { body: { tools: [{ type: 'custom', custom: { name: 'run' } }] } }).tool_calls).toEqual([
      { id: 'c2', type: 'custom', custom: { name: 'run', input: 'ls' } },
    ]);
  });

  test('shows images and speaks', () => {
    const media = { type: 'media', name: null, detail: null, cache: null } as const;
    const image = { ...media, kind: 'image', mime: 'image/png', source: { from: 'data', base64: 'AAAA' } } as const;
    const sound = { ...media, kind: 'audio', mime: 'audio/wav', source: { from: 'data', base64: 'UklG' } } as const;
    expect(messageOf([text, image, sound])).toMatchObject({
      images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
      audio: { data: 'UklG', transcript: 'Hello' },
    });
  });

  test('without usage has none', () => {
    expect(write({ ...answer(choice([text])), usage: null }).usage).toBeNull();
  });
});

describe('a stream', () => {
  const steps = stepsOf(answer(choice([thinking, text, called], { finish: 'tool_calls' })));

  test('opens with the role, keeps one id, numbers calls, and tells usage with the finish', () => {
    const chunks = stream(steps);
    expect(deltas(steps)).toEqual([
      { role: 'assistant', content: '' },
      { content: 'Hello' },
      {
        tool_calls: [
          { index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '', thought_signature: 'gem' } },
        ],
      },
      { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] },
      {},
    ]);
    expect(new Set(chunks.slice(0, -1).map(({ id }) => id)).size).toBe(1);
    expect(chunks.at(-2)).toMatchObject({
      provider: callFacts().provider,
      choices: [{ finish_reason: 'tool_calls' }],
      usage: { prompt_tokens: 20 },
    });
    expect(chunks.at(-1)).toBe('[DONE]');
  });

  test('tells usage in a chunk of its own where that was asked for', () => {
    const chunks = stream(steps, { body: { stream_options: { include_usage: true } } });
    expect(chunks.at(-3).usage).toBeUndefined();
    expect(chunks.at(-2)).toMatchObject({ choices: [], usage: { total_tokens: 30 } });
  });

  test('shows thoughts block by block where it need not be strict', () => {
    expect(deltas(steps, loose).slice(1, 4)).toEqual([
      { reasoning_content: 'Hm.', content_blocks: [{ index: 0, delta: { thinking: 'Hm.' } }] },
      { content_blocks: [{ index: 0, delta: { signature: 's' } }] },
      { content: 'Hello', content_blocks: [{ index: 1, delta: { text: 'Hello' } }] },
    ]);
  });

  test('shows a thought that follows a signed one as a block of its own', () => {
    const again: AnswerPart = { type: 'thinking', text: 'So.', signature: 't' };
    const blocks = deltas(stepsOf(answer(choice([thinking, again, text]))), loose).flatMap(
      ({ content_blocks }) => content_blocks ?? [],
    );
    expect(blocks).toEqual([
      { index: 0, delta: { thinking: 'Hm.' } },
      { index: 0, delta: { signature: 's' } },
      { index: 1, delta: { thinking: 'So.' } },
      { index: 1, delta: { signature: 't' } },
      { index: 2, delta: { text: 'Hello' } },
    ]);
  });

  test('names its sound once, with the first piece of it', () => {
    const piece = (base64: string): AnswerEvent => ({
      type: 'media',
      choice: 0,
      media: {
        type: 'media',
        kind: 'audio',
        mime: 'audio/pcm',
        source: { from: 'data', base64 },
        name: null,
        detail: null,
        cache: null,
      },
    });
    const sounds = deltas([piece('AAAA'), piece('BBBB')]).flatMap(({ audio }) => audio ?? []);
    expect(sounds).toEqual([{ id: expect.stringMatching(/^audio_/), data: 'AAAA' }, { data: 'BBBB' }]);
  });

  test('that never finished has no end, nor has one of which only one choice did', () => {
    const open = steps.filter(({ type }) => type !== 'finish');
    expect(stream(open).at(-1)).not.toBe('[DONE]');
    expect(stream([...steps, { type: 'text', choice: 1, text: 'More' }]).at(-1)).not.toBe('[DONE]');
  });

  test('of several choices finishes each, and tells usage once', () => {
    const chunks = stream(stepsOf(answer(choice([text]), choice([text], { index: 1, finish: 'length' }))));
    const finished = chunks
      .flatMap((chunk) => (chunk === '[DONE]' ? [] : chunk.choices))
      .filter(({ finish_reason }) => finish_reason);
    expect(finished.map(({ index, finish_reason }) => [index, finish_reason])).toEqual([
      [0, 'stop'],
      [1, 'length'],
    ]);
    expect(chunks.filter(({ usage }) => usage)).toHaveLength(1);
  });

  test('tells calls as the client declared its tools', () => {
    const body = { functions: [{ name: 'f' }] };
    expect(deltas(steps, { body }).slice(2, 4)).toEqual([
      { function_call: { name: 'f', arguments: '' } },
      { function_call: { arguments: '{"a":1}' } },
    ]);
    const custom = stepsOf(
      answer(choice([{ type: 'tool-call', id: 'c2', name: 'run', arguments: '{"input":"ls"}', signature: null }])),
    );
    expect(deltas(custom, { body: { tools: [{ type: 'custom', custom: { name: 'run' } }] } }).slice(1, 3)).toEqual([
      { tool_calls: [{ index: 0, id: 'c2', type: 'custom', custom: { name: 'run', input: '' } }] },
      { tool_calls: [{ index: 0, custom: { input: 'ls' } }] },
    ]);
  });
});
