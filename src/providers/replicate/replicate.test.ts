import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../../test/call-facts.ts';
import { assembled, spoken } from '../../../test/families.ts';
import { predictionEvents } from '../../../test/providers/replicate.ts';
import { EncodedBody } from '../encoded-body.ts';
import { ProviderFault } from '../faults.ts';
import type { JsonObject, RawAnswer } from '../provider.ts';
import { StreamedCall } from '../streamed-call.ts';
import { chat, replicateFamily } from './chat.ts';

const messages = [{ role: 'user', content: 'Hello' }];
const inputFor = (model: string, more: JsonObject = {}) =>
  spoken(replicateFamily, { model }).asked({ messages, ...more }).input;

describe('what a model is given', () => {
  const image = { type: 'image_url', image_url: { url: 'https://x.test/a.png' } };

  test('has the names of its vendor', () => {
    const talk = { messages: [{ role: 'system', content: 'Be brief' }, ...messages], max_tokens: 9 };
    expect(inputFor('meta/llama', talk)).toEqual({ prompt: 'Hello', system_prompt: 'Be brief', max_tokens: 9 });
    expect(inputFor('google/gemini-2.5-flash', talk)).toEqual({
      prompt: 'Hello',
      system_instruction: 'Be brief',
      max_output_tokens: 9,
    });
    expect(inputFor('openai/gpt-5', talk)).toEqual({ messages: talk.messages, max_completion_tokens: 9 });
  });

  test('shows one image, or several where the model looks at them', () => {
    const looking = { messages: [{ role: 'user', content: [{ type: 'text', text: 'See' }, image, image] }] };
    expect(inputFor('google/gemini-2.5-flash', looking).images).toHaveLength(2);
    expect(() => inputFor('meta/llama', looking)).toThrow('one image');
  });

  test.each([
    ['anthropic/claude-4-sonnet', 3_000, { extended_thinking: true, thinking_budget_tokens: 3_000 }],
    ['google/gemini-2.5-flash', 3_000, { thinking_budget: 3_000 }],
    ['openai/gpt-5', 1_024, { reasoning_effort: 'low' }],
    ['openai/gpt-5', 8_192, { reasoning_effort: 'medium' }],
    ['openai/gpt-5', 8_193, { reasoning_effort: 'high' }],
    ['meta/llama', 8_193, {}],
  ])('tells %s of a budget of %d tokens', (model, budget_tokens, expected) => {
    const { prompt: _, messages: __, ...told } = inputFor(model, { thinking: { type: 'enabled', budget_tokens } });
    expect(told).toEqual(expected);
  });

  test.each([
    ['anthropic/claude-4-sonnet', 'medium', { extended_thinking: true, thinking_budget_tokens: 8_192 }],
    ['anthropic/claude-4-sonnet', 'none', { extended_thinking: false }],
    ['google/gemini-2.5-flash', 'none', { thinking_budget: 0 }],
    ['google/gemini-3-pro', 'low', { thinking_level: 'low' }],
    ['meta/llama', 'low', { reasoning_effort: 'low' }],
  ])('tells %s of the effort %s', (model, reasoning_effort, expected) => {
    const { prompt: _, ...told } = inputFor(model, { reasoning_effort });
    expect(told).toEqual(expected);
  });

  test('leaves it to Gemini how much to think, where that is asked for', () => {
    expect(inputFor('google/gemini-2.5-flash', { thinking: { type: 'adaptive' } })).toMatchObject({
      dynamic_thinking: true,
    });
  });
});

describe('a stream', () => {
  const family = spoken(replicateFamily);
  const said = predictionEvents(['Grüße,\n', '\n', 'Rom 👋']).join('');

  test('gives what was said, wherever it is cut', () => {
    const whole = assembled(family.streamed(said));
    expect(whole).toMatchObject({ content: 'Grüße,\n\nRom 👋', finish_reason: 'stop', done: true });
    for (let size = 1; size < 40; size++) expect(assembled(family.streamed(said, size))).toEqual(whole);
  });

  test('that breaks off before it is done does not look complete', () => {
    const cut = family.streamed(predictionEvents(['Hello']).slice(0, -1).join(''));
    expect(assembled(cut)).toMatchObject({ content: 'Hello', finish_reason: null, done: false });
  });

  test.each([
    ['event: error\ndata: {"detail":"out of memory"}\n\n', 502, 'out of memory'],
    ['event: error\ndata: out of memory\n\n', 502, 'out of memory'],
    ['event: done\ndata: {"reason":"error"}\n\n', 502, 'the prediction failed'],
    ['event: done\ndata: {"reason":"canceled"}\n\n', 499, 'the prediction was cancelled'],
  ])('that says %j breaks', (events, status, message) => {
    const reading = () => family.streamed(events);
    expect(reading).toThrow(ProviderFault);
    expect(reading).toThrow(expect.objectContaining({ status, message }));
  });
});

describe('the steps', () => {
  const answer = (body: object): RawAnswer => ({
    status: 200,
    headers: new Headers(),
    bytes: Buffer.from(JSON.stringify(body)),
  });
  const outcome = (stream: boolean, prediction: object) => {
    const steps = chat.steps?.(callFacts({ model: 'owner/name', stream }), { input: {} });
    steps?.next([]);
    return steps?.next([answer(prediction)]).value;
  };

  test('end in the call whose answer is the stream', () => {
    const ended = outcome(true, { id: 'p', status: 'starting', urls: { stream: 'https://stream.example/p' } });
    expect(ended).toBeInstanceOf(StreamedCall);
    expect(ended).toMatchObject({ call: { path: 'https://stream.example/p', bare: true } });
  });

  test('end in the events that a model which does not stream would have sent', () => {
    const ended = outcome(true, { id: 'p', status: 'succeeded', output: ['a\r\n', 'b'] });
    const bytes = ended instanceof EncodedBody ? ended.bytes : new Uint8Array();
    expect(assembled(spoken(replicateFamily).streamed(bytes))).toMatchObject({ content: 'a\nb', done: true });
  });

  test('end in the prediction itself', () => {
    const prediction = { id: 'p', status: 'succeeded', output: 'Hello' };
    expect(outcome(false, prediction)).toEqual(prediction);
  });
});
