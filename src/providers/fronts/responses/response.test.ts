import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../../../test/call-facts.ts';
import { checkedResponse } from '../../../../test/event-grammar.ts';
import { call, chunks, completion, fronted } from '../../../../test/fronts.ts';
import type { AnswerEvent } from '../../chat/answer.ts';
import type { JsonObject } from '../../provider.ts';
import { unseal } from '../sealed.ts';
import { shortName } from '../tool-names.ts';
import { responsesFront } from './responses.ts';

const front = fronted(responsesFront);
const types = (bytes: string): string[] => front.streamed(bytes).map(({ event }) => event ?? '');
const delta = (index: number, id: string | null, name: string | null, args: string) => ({
  tool_calls: [{ index, ...(id && { id, type: 'function' }), function: { ...(name && { name }), arguments: args } }],
});
const written = (steps: readonly AnswerEvent[], body: JsonObject = {}) => {
  const writer = responsesFront.writer(callFacts({ body }));
  return [...steps.flatMap((step) => writer.write(step)), ...writer.end()];
};
const finish = { type: 'finish', choice: 0, reason: 'stop', providerReason: 'stop', stopSequence: null } as const;
const usage = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 5, cache_write_tokens: 0 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 30,
};

describe('a whole answer', () => {
  test('is a response that tells the settings of its request back', () => {
    const settings = {
      instructions: 'Be brief.',
      max_output_tokens: 50,
      temperature: 0,
      top_p: 0.5,
      tools: [{ type: 'function', name: 'f', parameters: {} }],
      tool_choice: 'required',
      parallel_tool_calls: false,
      reasoning: { effort: 'low', summary: 'auto' },
      text: { format: { type: 'json_object' }, verbosity: 'low' },
      metadata: { team: 'a' },
      user: 'u',
      truncation: 'auto',
    };
    expect(front.answered(completion({ content: 'Hello' }), { input: 'Hi', ...settings })).toEqual({
      id: 'resp_1',
      object: 'response',
      created_at: callFacts().now(),
      status: 'completed',
      background: false,
      error: null,
      incomplete_details: null,
      model: 'model-1',
      output: [
        {
          id: 'msg_2',
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hello', annotations: [], logprobs: [] }],
        },
      ],
      previous_response_id: null,
      store: false,
      max_tool_calls: null,
      top_logprobs: null,
      safety_identifier: null,
      prompt_cache_key: null,
      service_tier: null,
      usage,
      ...settings,
    });
  });

  test('of a request that sets nothing tells the defaults', () => {
    expect(front.answered(completion({ content: 'Hi' }), { input: 'Hi' })).toMatchObject({
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
      parallel_tool_calls: true,
      reasoning: { effort: null, summary: null },
      metadata: {},
      truncation: 'disabled',
      temperature: null,
    });
  });

  test('has thoughts, a message and calls as items, call ids unchanged', () => {
    const message = {
      reasoning: 'Hm.',
      content: 'Look.',
      tool_calls: [call('c1', 'weather', '{"city":"Rome"}'), call('c2', 'time', '')],
    };
    expect(front.answered(completion(message, 'tool_calls'))).toMatchObject({
      status: 'completed',
      output: [
        { id: 'rs_2', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
        { id: 'msg_3', type: 'message', content: [{ text: 'Look.' }] },
        {
          id: 'fc_4',
          type: 'function_call',
          call_id: 'c1',
          name: 'weather',
          arguments: '{"city":"Rome"}',
          status: 'completed',
        },
        { id: 'fc_5', type: 'function_call', call_id: 'c2', name: 'time', arguments: '{}' },
      ],
    });
  });

  test('keeps sources and log probabilities on its text, and refusals as such', () => {
    const nested = {
      type: 'url_citation',
      url_citation: { url: 'https://a.invalid', title: 'A', start_index: 0, end_index: 2 },
    };
    const answer = completion({ content: 'Hi', refusal: 'No.', annotations: [nested] });
    const token = { token: 'Hi', logprob: -0.1, bytes: [72, 105], top_logprobs: [] };
    answer.choices[0].logprobs = { content: [token] };
    expect(front.answered(answer).output[0].content).toEqual([
      {
        type: 'output_text',
        text: 'Hi',
        annotations: [{ type: 'url_citation', url: 'https://a.invalid', title: 'A', start_index: 0, end_index: 2 }],
        logprobs: [token],
      },
      { type: 'refusal', refusal: 'No.' },
    ]);
  });

  test.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ])('that ended with %s is incomplete', (reason, why) => {
    expect(front.answered(completion({ content: 'Hi' }, reason))).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: why },
      output: [{ status: 'incomplete' }],
    });
  });

  test('calls custom tools with their text, and tools by the names that the client gave', () => {
    const name = 'x'.repeat(100);
    const body = {
      tools: [
        { type: 'custom', name: 'run' },
        { type: 'function', name, parameters: {} },
      ],
    };
    const calls = [
      call('c1', 'run', '{"input":"ls\\n-l"}'),
      call('c2', 'run', 'no json'),
      call('c3', shortName(name), '{}'),
    ];
    expect(front.answered(completion({ tool_calls: calls }), body).output).toEqual([
      { id: 'ctc_2', type: 'custom_tool_call', status: 'completed', call_id: 'c1', name: 'run', input: 'ls\n-l' },
      { id: 'ctc_3', type: 'custom_tool_call', status: 'completed', call_id: 'c2', name: 'run', input: 'no json' },
      { id: 'fc_4', type: 'function_call', status: 'completed', call_id: 'c3', name, arguments: '{}' },
    ]);
  });

  test('that shows an image has it as an item; sound is linked from the text', () => {
    const images = [{ type: 'image_url', image_url: { url: 'data:image/webp;base64,AAAA' } }];
    const audio = { id: 'a', data: 'UklG', transcript: 'Hello' };
    expect(front.answered(completion({ images, audio })).output).toMatchObject([
      { type: 'message', content: [{ text: 'Hello' }] },
      { type: 'image_generation_call', status: 'completed', result: 'AAAA', output_format: 'webp' },
      { type: 'message', content: [{ text: '[audio](data:audio/wav;base64,UklG)' }] },
    ]);
  });

  test('without usage tells none', () => {
    expect(front.answered(completion({ content: 'Hi' }, 'stop', null)).usage).toBeNull();
  });
});

describe('a stream', () => {
  test('of text has its events in order, and usage that came behind the finish', () => {
    const bytes = chunks([{ role: 'assistant', content: '' }, { content: 'Hel' }, { content: 'lo' }]);
    expect(types(bytes)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(checkedResponse(front.streamed(bytes))).toEqual(front.answered(completion({ content: 'Hello' })));
  });

  test('without content is still a response', () => {
    expect(types(chunks([{ role: 'assistant' }]))).toEqual([
      'response.created',
      'response.in_progress',
      'response.completed',
    ]);
  });

  test('of thoughts, refusals and calls closes each before the next', () => {
    const bytes = chunks(
      [
        { reasoning_content: 'Hm' },
        { reasoning_content: '.' },
        { content: 'A' },
        { refusal: 'No.' },
        delta(0, 'c1', 'f', '{}'),
      ],
      'tool_calls',
    );
    expect(
      types(bytes)
        .slice(2, -1)
        .map((type) => type.replace('response.', '')),
    ).toEqual([
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'content_part.added',
      'refusal.delta',
      'refusal.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
    ]);
    checkedResponse(front.streamed(bytes));
  });

  test('of interleaved calls has both open at once', () => {
    const bytes = chunks(
      [
        delta(0, 'c1', 'a', ''),
        delta(1, 'c2', 'b', ''),
        delta(0, null, null, '{"n":'),
        delta(1, null, null, '{"m":'),
        delta(0, null, null, '1}'),
        delta(1, null, null, '2}'),
      ],
      'tool_calls',
    );
    const events = front.streamed(bytes);
    expect(checkedResponse(events).output).toMatchObject([
      { call_id: 'c1', name: 'a', arguments: '{"n":1}' },
      { call_id: 'c2', name: 'b', arguments: '{"m":2}' },
    ]);
    const deltas = events.map(({ data }) => JSON.parse(data)).filter(({ type }) => type.endsWith('arguments.delta'));
    expect(deltas.map(({ output_index }) => output_index)).toEqual([0, 1, 0, 1]);
  });

  test('delivers arguments that come behind the finish', () => {
    const late = chunks([delta(0, 'c1', 'a', '{"n"')], 'tool_calls', null).replace(
      'data: [DONE]',
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: delta(0, null, null, ':1}') }] })}\n\ndata: [DONE]`,
    );
    expect(checkedResponse(front.streamed(late)).output[0].arguments).toBe('{"n":1}');
  });

  test('that is cut off before the model was done has no end', () => {
    const cut = chunks([{ content: 'Hel' }]).split('\n\n')[0] ?? '';
    expect(types(`${cut}\n\n`).at(-1)).toBe('response.output_text.delta');
  });

  test('that ran out of tokens ends as incomplete', () => {
    const bytes = chunks([{ content: 'Hel' }], 'length');
    expect(types(bytes).at(-1)).toBe('response.incomplete');
    expect(checkedResponse(front.streamed(bytes)).incomplete_details).toEqual({ reason: 'max_output_tokens' });
  });

  test('of custom tools tells their text once it is whole', () => {
    const bytes = chunks([delta(0, 'c1', 'run', '{"inp'), delta(0, null, null, 'ut":"ls"}')], 'tool_calls');
    const events = front.streamed(bytes, { tools: [{ type: 'custom', name: 'run' }] });
    expect(checkedResponse(events).output[0]).toMatchObject({ type: 'custom_tool_call', input: 'ls' });
    expect(events.map(({ event }) => event).slice(2, -1)).toEqual([
      'response.output_item.added',
      'response.custom_tool_call_input.delta',
      'response.custom_tool_call_input.done',
      'response.output_item.done',
    ]);
  });

  test('of signed and hidden thoughts seals what must go back', () => {
    const { output } = checkedResponse(
      written([
        { type: 'thinking', choice: 0, text: 'One' },
        { type: 'signature', choice: 0, signature: 's1' },
        { type: 'redacted-thinking', choice: 0, content: 'blob' },
        { type: 'tool-call', choice: 0, call: 0, id: 'c1', name: 'f', signature: 'gem' },
        { type: 'arguments', choice: 0, call: 0, text: '{}' },
        { ...finish, reason: 'tool_calls' },
      ]),
    );
    const sealed = output.map(
      (item: { encrypted_content?: string }) => item.encrypted_content && unseal(item.encrypted_content),
    );
    expect(sealed).toEqual([
      { holds: 'signature', signature: 's1' },
      { holds: 'thought', content: 'blob' },
      { holds: 'call', id: 'c1', signature: 'gem' },
      undefined,
    ]);
  });

  test('adds sources to the open text as they come, and log probabilities with their words', () => {
    const token = { token: 'Hi', logprob: -0.1, top_logprobs: [] };
    const annotation = { type: 'url_citation', url: 'https://a.invalid', title: 'A', start_index: 0, end_index: 2 };
    const events = written([
      { type: 'text', choice: 0, text: 'Hi', logprobs: { content: [token] } },
      { type: 'annotations', choice: 0, annotations: [annotation, annotation] },
      { type: 'text', choice: 1, text: 'Other' },
      finish,
    ]);
    expect(checkedResponse(events).output).toMatchObject([
      { content: [{ text: 'Hi', annotations: [annotation, annotation], logprobs: [token] }] },
    ]);
    const added = events.map(({ data }) => JSON.parse(data)).filter(({ type }) => type.endsWith('annotation.added'));
    expect(added.map(({ annotation_index }) => annotation_index)).toEqual([0, 1]);
  });
});

describe('sources', () => {
  const annotations = [{ type: 'url_citation', url_citation: { url: 'https://a.test', title: 'A' } }];
  const cited = { type: 'annotations', choice: 0, annotations } as const;
  const said = { type: 'text', choice: 0, text: 'Hello' } as const;
  const called = [
    { type: 'tool-call', choice: 0, call: 0, id: 'c1', name: 'f', signature: null },
    { type: 'arguments', choice: 0, call: 0, text: '{}' },
  ] as const;
  const shapes = (steps: readonly AnswerEvent[]) =>
    checkedResponse(written([...steps, finish])).output.map(
      ({ type, content }: { type: string; content?: { text: string; annotations: unknown[] }[] }) =>
        content?.map((part) => `${part.text} ${part.annotations.length}`).join() ?? type,
    );

  test.each([
    ['before the text', [cited, said], ['Hello 1']],
    ['behind it', [said, cited], ['Hello 1']],
    ['when it is closed', [said, ...called, cited], ['Hello 0', 'function_call', ' 1']],
    ['before a text that comes later', [said, ...called, cited, said], ['Hello 0', 'function_call', 'Hello 1']],
    ['where there is no text at all', [...called, cited], ['function_call']],
  ])('that come %s are kept', (_, steps, shape) => {
    expect(shapes(steps)).toEqual(shape);
  });
});
