/** Answers of Converse behind the chat front: how they end, what they used, and streams cut at every byte. */
import { describe, expect, test } from 'bun:test';
import { assembled, spoken } from '../../../test/families.ts';
import { framesOf } from '../../../test/providers/bedrock.ts';
import { converse } from './converse.ts';

const claude4 = 'us.anthropic.claude-sonnet-4-20250514-v1:0';
const nova = 'amazon.nova-pro-v1:0';

describe('an answer ends', () => {
  const reasons: [said: string, finish: string][] = [
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['tool_use', 'tool_calls'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['guardrail_intervened', 'content_filter'],
    ['content_filtered', 'content_filter'],
    ['malformed_model_output', 'stop'],
    ['malformed_tool_use', 'stop'],
  ];
  for (const [stopReason, finish] of reasons) {
    test(`by ${stopReason} as ${finish}, whole and streamed; in its own word where nobody insists`, () => {
      const answer = { output: { message: { role: 'assistant', content: [{ text: 'a' }] } }, stopReason };
      const frames = Buffer.concat(framesOf({ content: [{ text: 'a' }], stopReason }));
      const strict = spoken(converse, { model: nova, framing: 'aws' });
      const loose = spoken(converse, { model: nova, framing: 'aws', strict: false });
      expect(strict.answered(answer).choices[0].finish_reason).toBe(finish);
      expect(assembled(strict.streamed(frames)).finish_reason).toBe(finish);
      expect(loose.answered(answer).choices[0].finish_reason).toBe(stopReason);
      expect(assembled(loose.streamed(frames)).finish_reason).toBe(stopReason);
    });
  }
});

describe('a stream', () => {
  const content = [
    { reasoningContent: { reasoningText: { text: 'Überlegen 🤔', signature: 'sig' } } },
    { text: 'Grüße 👋' },
    { toolUse: { toolUseId: 't1', name: 'f', input: { city: 'Köln' } } },
    { toolUse: { toolUseId: 't2', name: 'g', input: {} } },
  ];
  const frames = Buffer.concat(framesOf({ content, stopReason: 'tool_use' }));
  const expected = {
    content: 'Grüße 👋',
    reasoning_content: 'Überlegen 🤔',
    tool_calls: [
      { id: 't1', name: 'f', arguments: '{"city":"Köln"}' },
      { id: 't2', name: 'g', arguments: '{}' },
    ],
    finish_reason: 'tool_use',
    usage: expect.objectContaining({ prompt_tokens: 20, completion_tokens: 10 }),
    done: true,
  };

  test('gives the same answer whatever the sizes of its pieces', () => {
    const loose = spoken(converse, { model: claude4, framing: 'aws', strict: false });
    for (const size of [1, 2, 3, 5, 7, 11, 64, 1_000, Number.POSITIVE_INFINITY]) {
      expect(assembled(loose.streamed(frames, size))).toEqual(expected);
    }
  });

  test('cut at any byte before its end is not complete, and says nothing that was not said', () => {
    const strict = spoken(converse, { model: claude4, framing: 'aws' });
    const end = Buffer.concat(framesOf({ content, stopReason: 'tool_use' }).slice(0, -1)).length;
    for (let at = 0; at < end; at++) {
      const answer = assembled(strict.streamed(frames.subarray(0, at)));
      expect([answer.finish_reason, answer.done]).toEqual([null, false]);
      expect('Grüße 👋'.startsWith(answer.content)).toBe(true);
    }
  });
});

test('usage counts what the cache read and wrote within the input, and what lasts an hour apart', () => {
  const answer = {
    output: { message: { role: 'assistant', content: [{ text: 'a' }] } },
    stopReason: 'end_turn',
    usage: {
      inputTokens: 1,
      outputTokens: 2,
      cacheReadInputTokens: 10,
      cacheWriteInputTokens: 100,
      cacheDetails: [
        { ttl: '1h', inputTokens: 60 },
        { ttl: '5m', inputTokens: 40 },
      ],
    },
  };
  expect(spoken(converse, { model: claude4 }).answered(answer).usage).toMatchObject({
    prompt_tokens: 111,
    completion_tokens: 2,
    total_tokens: 113,
    prompt_tokens_details: { cached_tokens: 10, cache_creation_tokens: 100, cache_creation_1h_tokens: 60 },
  });
});
