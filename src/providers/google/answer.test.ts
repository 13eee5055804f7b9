import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../../test/call-facts.ts';
import type { Json } from '../../../test/harness.ts';
import { answerOf, type Candidate, type Scripted } from '../../../test/providers/gemini.ts';
import { chatFront } from '../fronts/chat/chat.ts';
import { readAnswer } from './answer.ts';

const model = 'gemini-2.5-flash';
const facts = callFacts({ model, provider: 'google' });
const read = (scripted: Scripted) => readAnswer(answerOf(model, scripted), facts);
const written = (scripted: Scripted, strict = true): Json => chatFront.write(read(scripted), { ...facts, strict });
const choiceOf = (candidate: Candidate) => read({ candidates: [candidate] }).choices[0];

describe('content', () => {
  test('thoughts, texts and calls are kept apart and in order', () => {
    const parts = [
      { text: 'Think', thought: true },
      { text: 'ing', thought: true },
      { text: 'It ' },
      { text: 'rains.' },
      { functionCall: { id: 'f1', name: 'now', args: { a: [1, { b: null }] } }, thoughtSignature: 'c2ln' },
      { functionCall: { name: 'now' } },
    ];
    expect(choiceOf({ parts })?.parts).toEqual([
      { type: 'thinking', text: 'Thinking', signature: null },
      { type: 'text', text: 'It rains.' },
      { type: 'tool-call', id: 'f1', name: 'now', arguments: '{"a":[1,{"b":null}]}', signature: 'c2ln' },
      { type: 'tool-call', id: 'call_1', name: 'now', arguments: '{}', signature: null },
    ]);
  });

  test('a picture that was drawn while thinking is none of the answer', () => {
    const inlineData = { mimeType: 'image/png', data: 'AAAA' };
    expect(choiceOf({ parts: [{ inlineData, thought: true }, { inlineData }] })?.parts.map(({ type }) => type)).toEqual(
      ['block', 'media'],
    );
  });

  test('a signature without words goes to the call before it, or to the thought of the message', () => {
    const signed = { text: '', thoughtSignature: 'c2ln' };
    const call = { functionCall: { id: 'f1', name: 'now', args: {} } };
    expect(choiceOf({ parts: [call, signed] })?.parts).toMatchObject([{ type: 'tool-call', signature: 'c2ln' }]);
    expect(choiceOf({ parts: [{ text: 'Hm', thought: true }, { text: 'So.' }, signed] })?.parts).toEqual([
      { type: 'thinking', text: 'Hm', signature: 'gemini:c2ln' },
      { type: 'text', text: 'So.' },
    ]);
    expect(choiceOf({ parts: [{ text: 'So.', thoughtSignature: 'c2ln' }] })?.parts).toEqual([
      { type: 'thinking', text: '', signature: 'gemini:c2ln' },
      { type: 'text', text: 'So.' },
    ]);
  });

  test('images are shown, code that ran only where answers need not be strict', () => {
    const scripted = {
      candidates: [
        {
          parts: [
            { executableCode: { language: 'PYTHON', code: 'print(1)' } },
            { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
            { text: 'One.' },
            { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
          ],
          groundingMetadata: { webSearchQueries: ['x'] },
        },
      ],
    };
    const strict = written(scripted).choices[0];
    expect(strict.message.images).toEqual([{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }]);
    expect(strict.message.content_blocks).toBeUndefined();
    expect(strict.groundingMetadata).toBeUndefined();
    const open = written(scripted, false).choices[0];
    expect(open.message.content_blocks.slice(0, 2)).toEqual([
      { type: 'executable_code', executable_code: { language: 'PYTHON', code: 'print(1)' } },
      { type: 'code_execution_result', code_execution_result: { outcome: 'OUTCOME_OK', output: '1' } },
    ]);
    expect(open.groundingMetadata).toEqual({ webSearchQueries: ['x'] });
  });

  test('several candidates each have their own end', () => {
    const { choices } = read({
      candidates: [{ parts: [{ text: 'A' }] }, { parts: [{ text: 'B' }], finishReason: 'MAX_TOKENS' }],
    });
    expect(choices.map(({ index, finish, parts }) => ({ index, finish, parts }))).toEqual([
      { index: 0, finish: 'stop', parts: [{ type: 'text', text: 'A' }] },
      { index: 1, finish: 'length', parts: [{ type: 'text', text: 'B' }] },
    ]);
  });

  test('probabilities are in OpenAI’s form', () => {
    const token = (text: string, logProbability: number) => ({ token: text, logProbability, tokenId: 1 });
    const logprobsResult = {
      chosenCandidates: [token('é', -0.1)],
      topCandidates: [{ candidates: [token('é', -0.1), token('e', -2)] }],
    };
    expect(choiceOf({ parts: [{ text: 'é' }], logprobsResult })?.logprobs).toEqual({
      content: [
        {
          token: 'é',
          logprob: -0.1,
          bytes: [195, 169],
          top_logprobs: [
            { token: 'é', logprob: -0.1, bytes: [195, 169] },
            { token: 'e', logprob: -2, bytes: [101] },
          ],
        },
      ],
      refusal: null,
    });
  });
});

describe('citations', () => {
  const text = 'Größe zählt 🚀. Wien ist schön.';
  const quoted = 'Wien ist schön.';
  const startIndex = Buffer.from(text.slice(0, text.indexOf(quoted))).length;
  const grounding = (segment: Json) => ({
    groundingChunks: [{ web: { uri: 'https://a.test', title: 'A' } }, { maps: { uri: 'https://b.test', title: 'B' } }],
    groundingSupports: [{ segment, groundingChunkIndices: [0, 1, 7] }],
  });
  const place = { start_index: text.indexOf(quoted), end_index: text.length };

  test('places counted in bytes become places in the text', () => {
    const segment = { startIndex, endIndex: Buffer.from(text).length, text: quoted };
    expect(choiceOf({ parts: [{ text }], groundingMetadata: grounding(segment) })?.annotations).toEqual([
      { type: 'url_citation', url_citation: { ...place, url: 'https://a.test', title: 'A' } },
      { type: 'url_citation', url_citation: { ...place, url: 'https://b.test', title: 'B' } },
    ]);
  });

  test('a place that is counted from elsewhere is found by its words', () => {
    const segment = { partIndex: 1, startIndex: 3, endIndex: 9, text: quoted };
    const [first] = choiceOf({ parts: [{ text }], groundingMetadata: grounding(segment) })?.annotations ?? [];
    expect(first).toMatchObject({ url_citation: place });
  });
});

describe('the end', () => {
  test.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['LANGUAGE', 'content_filter'],
    ['BLOCKLIST', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['SPII', 'content_filter'],
    ['IMAGE_SAFETY', 'content_filter'],
    ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
    ['IMAGE_RECITATION', 'content_filter'],
    ['MODEL_ARMOR', 'content_filter'],
    ['SOMETHING_NEW', 'length'],
    ['MALFORMED_FUNCTION_CALL', 'stop'],
    ['UNEXPECTED_TOOL_CALL', 'stop'],
    ['TOO_MANY_TOOL_CALLS', 'stop'],
    ['MISSING_THOUGHT_SIGNATURE', 'stop'],
    ['NO_IMAGE', 'stop'],
    ['OTHER', 'stop'],
  ])('%s is %s', (finishReason, reason) => {
    const scripted = { candidates: [{ parts: [{ text: 'A' }], finishReason }] };
    expect(written(scripted).choices[0].finish_reason).toBe(reason);
    expect(written(scripted, false).choices[0].finish_reason).toBe(finishReason);
  });

  test('STOP after a call means that its result is awaited', () => {
    const parts = [{ functionCall: { name: 'now', args: {} } }];
    expect(choiceOf({ parts })?.finish).toBe('tool_calls');
    expect(choiceOf({ parts, finishReason: 'MAX_TOKENS' })?.finish).toBe('length');
  });

  test('a prompt that was blocked is an answer without content, not a fault', () => {
    const blocked = written({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } });
    expect(blocked.choices).toMatchObject([{ index: 0, message: { content: '' }, finish_reason: 'content_filter' }]);
    expect(blocked.usage.prompt_tokens).toBe(20);
  });

  test('an answer without candidates and without a reason is a fault', () => {
    expect(() => read({})).toThrow('the answer has no candidates');
  });
});

test('usage counts thoughts as written, what tools brought as read, and images and sound apart', () => {
  const usage = {
    promptTokenCount: 100,
    toolUsePromptTokenCount: 20,
    candidatesTokenCount: 30,
    thoughtsTokenCount: 40,
    cachedContentTokenCount: 50,
    totalTokenCount: 190,
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 60 },
      { modality: 'AUDIO', tokenCount: 15 },
      { modality: 'IMAGE', tokenCount: 25 },
    ],
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 10 }],
  };
  const grounded = { groundingMetadata: { webSearchQueries: ['a', 'b'] } };
  expect(read({ candidates: [{ parts: [{ text: 'A' }], ...grounded }], usage }).usage).toEqual({
    inputTokens: 120,
    outputTokens: 70,
    cacheReadTokens: 50,
    cacheWriteTokens: 0,
    reasoningTokens: 40,
    inputAudioTokens: 15,
    outputAudioTokens: 0,
    units: { request_image_token: 25, response_image_token: 10, web_search: 1 },
    reportedCents: null,
  });
  expect(written({ candidates: [{ parts: [{ text: 'A' }] }], usage }).usage.total_tokens).toBe(190);
});
