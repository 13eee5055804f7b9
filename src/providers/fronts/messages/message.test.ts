import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../../../test/call-facts.ts';
import { checkedMessage } from '../../../../test/event-grammar.ts';
import { call, chunks, completion, fronted } from '../../../../test/fronts.ts';
import type { AnswerEvent } from '../../chat/answer.ts';
import { unseal } from '../sealed.ts';
import { shortName } from '../tool-names.ts';
import { messagesFront } from './messages.ts';

const front = fronted(messagesFront);
const types = (bytes: string): string[] => front.streamed(bytes).map(({ event }) => event ?? '');
const delta = (index: number, id: string | null, name: string | null, args: string) => ({
  tool_calls: [{ index, ...(id && { id, type: 'function' }), function: { ...(name && { name }), arguments: args } }],
});
/** Steps as another family gives them. */
const written = (steps: readonly AnswerEvent[]) => {
  const writer = messagesFront.writer(callFacts());
  return [...steps.flatMap((step) => writer.write(step)), ...writer.end()];
};
const finish = { type: 'finish', choice: 0, reason: 'stop', providerReason: 'stop', stopSequence: null } as const;

describe('a whole answer', () => {
  test('is a message with usage in its own arithmetic', () => {
    expect(front.answered(completion({ content: 'Hello' }))).toEqual({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'model-1',
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: 15,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 5,
        output_tokens: 10,
        output_tokens_details: { thinking_tokens: 3 },
      },
    });
  });

  test('has thoughts first, then text, then calls; arguments that cannot be read are none', () => {
    const message = {
      reasoning_content: 'Hm.',
      content: 'Look.',
      tool_calls: [call('c1', 'weather', '{"city":"Rome"}'), call('c2', 'time', '{"broken')],
    };
    expect(front.answered(completion(message, 'stop'))).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: '' },
        { type: 'text', text: 'Look.' },
        { type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Rome' } },
        { type: 'tool_use', id: 'c2', name: 'time', input: {} },
      ],
      stop_reason: 'tool_use',
    });
  });

  test('with sources cites them on the text', () => {
    const annotation = {
      type: 'url_citation',
      url_citation: { url: 'https://a.invalid', title: 'A', start_index: 0, end_index: 4 },
    };
    expect(front.answered(completion({ content: 'Rome is old.', annotations: [annotation] })).content).toEqual([
      {
        type: 'text',
        text: 'Rome is old.',
        citations: [
          {
            type: 'web_search_result_location',
            cited_text: 'Rome',
            encrypted_index: '',
            title: 'A',
            url: 'https://a.invalid',
          },
        ],
      },
    ]);
  });

  test.each([
    ['stop', 'end_turn'],
    ['eos', 'end_turn'],
    ['length', 'max_tokens'],
    ['tool_calls', 'tool_use'],
    ['function_call', 'tool_use'],
    ['content_filter', 'refusal'],
  ])('that ended with %s stopped for %s', (finishReason, stopReason) => {
    expect(front.answered(completion({ content: 'Hi' }, finishReason)).stop_reason).toBe(stopReason);
  });

  test('that refuses says so in text and reason', () => {
    expect(front.answered(completion({ refusal: 'I cannot.' }))).toMatchObject({
      content: [{ type: 'text', text: 'I cannot.' }],
      stop_reason: 'refusal',
    });
  });

  test('calls a tool by the name that the client gave it', () => {
    const name = 'x'.repeat(100);
    const body = { tools: [{ name, input_schema: {} }] };
    const answer = completion({ tool_calls: [call('c1', shortName(name), '{}')] });
    expect(front.answered(answer, body).content[0].name).toBe(name);
  });

  test('that shows an image shows it in the text, as nothing else can', () => {
    const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }];
    expect(front.answered(completion({ content: 'Here: ', images })).content).toEqual([
      { type: 'text', text: 'Here: ![image](data:image/png;base64,AAAA)' },
    ]);
  });

  test('without usage has zeros, which count as nothing reported', () => {
    expect(front.answered(completion({ content: 'Hi' }, 'stop', null)).usage).toMatchObject({
      input_tokens: 0,
      output_tokens: 0,
    });
  });
});

describe('a stream', () => {
  test('of text has its events in order, and usage that came behind the finish', () => {
    const bytes = chunks([{ role: 'assistant', content: '' }, { content: 'Hel' }, { content: 'lo' }]);
    expect(types(bytes)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(checkedMessage(front.streamed(bytes))).toEqual({
      ...front.answered(completion({ content: 'Hello' })),
      id: 'msg_1',
    });
  });

  test('without content is still a message', () => {
    expect(types(chunks([{ role: 'assistant' }]))).toEqual(['message_start', 'message_delta', 'message_stop']);
  });

  test('of thoughts, text and calls closes each before the next', () => {
    const bytes = chunks(
      [
        { reasoning: 'Hm' },
        { reasoning: '.' },
        { content: 'Look.' },
        delta(0, 'c1', 'weather', ''),
        delta(0, null, null, '{"city":'),
        delta(0, null, null, '"Rome"}'),
        delta(1, 'c2', 'time', '{}'),
      ],
      'tool_calls',
    );
    expect(checkedMessage(front.streamed(bytes))).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'text', text: 'Look.' },
        { type: 'tool_use', id: 'c1', input: { city: 'Rome' } },
        { type: 'tool_use', id: 'c2', input: {} },
      ],
      stop_reason: 'tool_use',
    });
  });

  test('of interleaved calls holds the second back until the first is whole', () => {
    const bytes = chunks(
      [
        delta(0, 'c1', 'a', ''),
        delta(1, 'c2', 'b', ''),
        delta(0, null, null, '{"n":'),
        delta(1, null, null, '{"m":'),
        delta(0, null, null, '1}'),
        { content: 'Between.' },
        delta(1, null, null, '2}'),
      ],
      'tool_calls',
    );
    const events = front.streamed(bytes);
    expect(checkedMessage(events).content).toEqual([
      { type: 'tool_use', id: 'c1', name: 'a', input: { n: 1 } },
      { type: 'tool_use', id: 'c2', name: 'b', input: { m: 2 } },
      { type: 'text', text: 'Between.' },
    ]);
    expect(events.map(({ event }) => event?.replace('content_block_', ''))).toEqual([
      'message_start',
      'start',
      'delta',
      'delta',
      'stop',
      'start',
      'delta',
      'delta',
      'stop',
      'start',
      'delta',
      'stop',
      'message_delta',
      'message_stop',
    ]);
  });

  test('delivers arguments that come behind the finish', () => {
    const late = chunks([delta(0, 'c1', 'a', '{"n"')], 'tool_calls', null).replace(
      'data: [DONE]',
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: delta(0, null, null, ':1}') }] })}\n\ndata: [DONE]`,
    );
    expect(checkedMessage(front.streamed(late)).content[0].input).toEqual({ n: 1 });
  });

  test('that is cut off before the model was done has no end', () => {
    const cut = chunks([{ content: 'Hel' }]).split('\n\n')[0] ?? '';
    expect(front.streamed(`${cut}\n\n`).map(({ event }) => event)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
    ]);
  });

  test('of signed thoughts keeps each thought with its signature, and hidden ones whole', () => {
    const events = written([
      { type: 'start', id: 'msg_provider', model: 'claude' },
      { type: 'thinking', choice: 0, text: 'One' },
      { type: 'signature', choice: 0, signature: 's1' },
      { type: 'thinking', choice: 0, text: 'Two' },
      { type: 'signature', choice: 0, signature: 's2' },
      { type: 'signature', choice: 0, signature: 's3' },
      { type: 'redacted-thinking', choice: 0, content: 'blob' },
      { type: 'text', choice: 0, text: 'So.' },
      { ...finish, stopSequence: 'END' },
    ]);
    expect(checkedMessage(events)).toMatchObject({
      id: 'msg_provider',
      model: 'claude',
      content: [
        { type: 'thinking', thinking: 'One', signature: 's1' },
        { type: 'thinking', thinking: 'Two', signature: 's2' },
        { type: 'thinking', thinking: '', signature: 's3' },
        { type: 'redacted_thinking', data: 'blob' },
        { type: 'text', text: 'So.' },
      ],
      stop_reason: 'stop_sequence',
      stop_sequence: 'END',
    });
  });

  test('sends the mark of a call before it, in a thought that the client gives back', () => {
    const { content } = checkedMessage(
      written([
        { type: 'tool-call', choice: 0, call: 0, id: 'c1', name: 'f', signature: 'gem' },
        { type: 'arguments', choice: 0, call: 0, text: '{}' },
        { ...finish, reason: 'tool_calls' },
      ]),
    );
    expect(content.map(({ type }: { type: string }) => type)).toEqual(['redacted_thinking', 'tool_use']);
    expect(unseal(content[0].data)).toEqual({ holds: 'call', id: 'c1', signature: 'gem' });
  });

  test('cites sources on the open text, keeps blocks of its own dialect, and leaves out answers beside the first', () => {
    const annotation = { type: 'url_citation', url: 'https://a.invalid', title: null, start_index: 0, end_index: 2 };
    const message = checkedMessage(
      written([
        { type: 'block', choice: 0, block: { type: 'server_tool_use', id: 's', name: 'web_search', input: {} } },
        { type: 'block', choice: 0, block: { type: 'executableCode' } },
        { type: 'text', choice: 1, text: 'Other' },
        { type: 'text', choice: 0, text: 'Hi' },
        { type: 'annotations', choice: 0, annotations: [annotation] },
        { ...finish, providerReason: 'pause_turn' },
      ]),
    );
    expect(message.content).toEqual([
      { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      {
        type: 'text',
        text: 'Hi',
        citations: [
          {
            type: 'web_search_result_location',
            cited_text: 'Hi',
            encrypted_index: '',
            title: null,
            url: 'https://a.invalid',
          },
        ],
      },
    ]);
    expect(message.stop_reason).toBe('pause_turn');
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
    checkedMessage(written([...steps, finish])).content.map(
      ({ type, text, citations }: { type: string; text?: string; citations?: unknown[] }) =>
        type === 'text' ? `${text} ${citations?.length ?? 0}` : type,
    );

  test.each([
    ['before the text', [cited, said], ['Hello 1']],
    ['behind it', [said, cited], ['Hello 1']],
    ['when it is closed', [said, ...called, cited], ['Hello 0', 'tool_use', ' 1']],
    ['before a text that comes later', [said, ...called, cited, said], ['Hello 0', 'tool_use', 'Hello 1']],
    ['where there is no text at all', [...called, cited], ['tool_use']],
  ])('that come %s are kept', (_, steps, shape) => {
    expect(shapes(steps)).toEqual(shape);
  });
});
