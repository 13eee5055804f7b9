import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ResponseStream } from 'openai/lib/responses/ResponseStream';
import { cut } from '../../../test/cut.ts';
import { checkedResponse } from '../../../test/event-grammar.ts';
import type { Json } from '../../../test/harness.ts';
import { dialects } from '../../../test/stream-dialects.ts';
import type { ServerEvent } from '../../providers/provider.ts';
import { Resumption } from '../streaming/resumption.ts';
import { newStreamState, type StreamState } from './dialect.ts';
import { responsesDialect } from './responses.ts';
import { responsesTakeover } from './responses-takeover.ts';

const eventsOf = (words: readonly string[], id?: string): ServerEvent[] =>
  cut(dialects.responses.whole(words, id).join(''));

const event = (type: string, fields: object): ServerEvent => ({
  event: type,
  data: JSON.stringify({ type, ...fields }),
});
const parsed = ({ data }: ServerEvent): Json => JSON.parse(data);
const read = (events: readonly ServerEvent[], state = newStreamState()): StreamState => {
  for (const each of events) responsesDialect.read(each, state);
  return state;
};
const resumed = (state: StreamState, continued = false): Resumption =>
  new Resumption(responsesDialect, responsesTakeover, state, continued);

/** What a client gets that has had `delivered` when another stream is joined to it. */
function joined(delivered: readonly ServerEvent[], next: readonly ServerEvent[], continued = false): ServerEvent[] {
  const told = resumed(read(delivered), continued).join(next);
  if (told === 'diverged') throw new Error('the streams diverged');
  return [...delivered, ...told.events];
}

const diverges = (delivered: readonly ServerEvent[], next: readonly ServerEvent[]): boolean =>
  resumed(read(delivered)).join(next) === 'diverged';

/** What OpenAI's SDK makes of a stream. */
const finalResponse = (events: readonly ServerEvent[]): Promise<Json> => {
  const lines = events.map(({ data }) => `${data}\n`).join('');
  return ResponseStream.fromReadableStream(new Blob([lines]).stream()).finalResponse();
};

const textIn = (events: readonly ServerEvent[]): string =>
  events.map((each) => responsesTakeover.textOf(each) ?? '').join('');

/** The same stream up to where it broke. */
const brokenAt = (events: readonly ServerEvent[], share: number): ServerEvent[] =>
  events.slice(0, 1 + Math.floor(share * (events.length - 1)));

const words = fc.array(
  fc.oneof(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }), fc.constantFrom(' ', '\n\n', ' two', 'three ')),
  { minLength: 1, maxLength: 8 },
);
const share = fc.nat(999).map((thousandths) => thousandths / 1000);

describe('wherever streams are cut, the client reads one stream and the SDK the whole response', () => {
  const check = async (all: readonly ServerEvent[], text: string) => {
    expect(textIn(all)).toBe(text);
    const whole = checkedResponse(all, 'joined');
    const { output_parsed: _, ...final } = await finalResponse(all);
    const undisturbed = await finalResponse(eventsOf([text], 'resp_last'));
    const { id } = whole.output[0];
    const output = [{ ...undisturbed.output[0], id }];
    expect(final).toMatchObject({ id: 'resp_last', status: 'completed', output_text: text, usage: undisturbed.usage });
    expect(final.output).toMatchObject(output);
  };

  test('by starting again, twice', async () => {
    await fc.assert(
      fc.asyncProperty(words, words, share, share, async (said, pieces, first, second) => {
        const text = said.join('');
        // The same text, in pieces of another model's.
        const lengths = pieces.map(({ length }) => length);
        const again: string[] = [];
        for (let from = 0; from < text.length; ) {
          const length = lengths[again.length % lengths.length] ?? 1;
          again.push(text.slice(from, from + length));
          from += length;
        }
        const a = brokenAt(eventsOf(said, 'resp_a'), first);
        const b = joined(a, brokenAt(eventsOf(again, 'resp_b'), second));
        await check(joined(b, eventsOf(said, 'resp_last')), text);
      }),
    );
  });

  test('by continuation, after which a third one starts again', async () => {
    await fc.assert(
      fc.asyncProperty(words, share, share, async (said, first, second) => {
        const text = said.join('');
        const a = brokenAt(eventsOf(said, 'resp_a'), first);
        const delivered = textIn(a);
        const rest = text.slice(delivered.trimEnd().length);
        // What repeats all that was said before it looks like an answer that starts over.
        fc.pre(delivered.trim().length < 3 || !rest.startsWith(delivered));
        await check(joined(a, eventsOf(rest ? [...rest] : [], 'resp_last'), true), text);
        const b = joined(a, brokenAt(eventsOf(rest ? [...rest] : [], 'resp_b'), second), true);
        await check(joined(b, eventsOf(said, 'resp_last')), text);
      }),
    );
  });
});

describe('the joined stream', () => {
  const one = eventsOf(['One', ' two'], 'resp_a');
  const broken = one.slice(0, 6);

  test('keeps the item, the places and the numbers of the first; its end is the response that the second keeps', () => {
    const all = joined(broken, eventsOf([' three'], 'resp_b'), true).map(parsed);
    expect(all.map(({ sequence_number }) => sequence_number)).toEqual(all.map((_, index) => index));
    expect(new Set(all.flatMap(({ item_id, item }) => item_id ?? item?.id ?? []))).toEqual(new Set(['msg_of_resp_a']));
    expect(all.map(({ type, response }) => [type, response?.id]).filter(([, id]) => id)).toEqual([
      ['response.created', 'resp_a'],
      ['response.in_progress', 'resp_a'],
      ['response.completed', 'resp_b'],
    ]);
  });

  test('goes on with the first one’s id where the second tells what the first did not', () => {
    const all = joined(one.slice(0, 1), eventsOf(['Hi'], 'resp_b')).map(parsed);
    expect(all.slice(0, 3).map(({ type, response }) => [type, response?.id])).toEqual([
      ['response.created', 'resp_a'],
      ['response.in_progress', 'resp_a'],
      ['response.output_item.added', undefined],
    ]);
  });

  test('points to the sources of a continuation where they are in the whole text', () => {
    const place = { item_id: 'msg_of_resp_b', output_index: 0, content_index: 0 };
    const annotation = { type: 'url_citation', url: 'https://example.com', start_index: 1, end_index: 6 };
    const next = eventsOf([' three'], 'resp_b').map(({ event: name, data }) => ({
      event: name,
      data: data.replace(
        '"annotations":[],"logprobs":[],"text":" ',
        `"annotations":[${JSON.stringify(annotation)}],"text":" `,
      ),
    }));
    const cited = [
      ...next.slice(0, 5),
      event('response.output_text.annotation.added', { ...place, annotation_index: 0, annotation }),
      ...next.slice(5),
    ];
    const all = joined(broken, cited, true).map(parsed);
    const moved = { start_index: 8, end_index: 13 };
    expect(all.find(({ type }) => type.includes('annotation'))).toMatchObject({ annotation: moved });
    expect(all.at(-1).response.output[0].content[0]).toMatchObject({ text: 'One two three', annotations: [moved] });
    expect('One two three'.slice(moved.start_index, moved.end_index)).toBe('three');
  });

  test('may call a tool behind the text, as an item of its own', () => {
    const item = { id: 'fc_1', type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
    const whole = eventsOf(['One', ' two'], 'resp_b');
    const called = [
      ...whole.slice(0, -1),
      event('response.output_item.added', { output_index: 1, item }),
      event('response.output_item.done', { output_index: 1, item }),
      ...whole.slice(-1),
    ];
    const all = joined(broken, called).map(parsed);
    expect(all.slice(-3, -1)).toMatchObject([
      { output_index: 1, item, sequence_number: 9 },
      { output_index: 1, item, sequence_number: 10 },
    ]);
  });

  test.each([0, 1, 2, 3, 4, 5, 6])(
    'leaves out what a second one thinks first, %p events into the first',
    async (cutAt) => {
      const item = { id: 'rs_1', type: 'reasoning', summary: [] };
      const summary = { item_id: 'rs_1', output_index: 0, summary_index: 0 };
      const thought = [
        event('response.output_item.added', { output_index: 0, item }),
        event('response.reasoning_summary_part.added', { ...summary, part: { type: 'summary_text', text: '' } }),
        event('response.reasoning_summary_text.delta', { ...summary, delta: 'hm' }),
        event('response.output_item.done', { output_index: 0, item }),
      ];
      const [created, progress, ...rest] = eventsOf(['One', ' two', ' three'], 'resp_b').map(parsed);
      const behind = rest.map((json: Json) =>
        event(json.type, {
          ...json,
          ...(json.output_index === 0 && { output_index: 1 }),
          ...(json.response && { response: { ...json.response, output: [item, ...json.response.output] } }),
        }),
      );
      const opening = [created, progress].map((json) => event(json.type, json));
      const all = joined(one.slice(0, cutAt), [...opening, ...thought, ...behind]);
      const { output } = await finalResponse(all);
      const message = { type: 'message', content: [{ text: 'One two three' }] };
      expect(output).toMatchObject(cutAt < 3 ? [item, message] : [message]);
      expect(all.map((each) => parsed(each).sequence_number)).toEqual(all.map((_, index) => index));
    },
  );

  test('numbers a fault of the second one, and goes on with the number of a fault of the first', () => {
    const failure = (sequence_number: number) =>
      event('response.failed', { sequence_number, response: { id: 'resp_b', error: { code: 'server_error' } } });
    const state = read([...broken, failure(6)]);
    const resumption = resumed(state);
    const told = resumption.join(eventsOf(['One', ' two', ' three'], 'resp_b').slice(0, 7));
    expect(told === 'diverged' ? told : told.events.map(parsed)).toMatchObject([
      { sequence_number: 6, delta: ' three' },
    ]);
    expect(parsed(resumption.retold(failure(3)))).toMatchObject({ sequence_number: 7, response: { id: 'resp_a' } });
  });

  test('is not disturbed by signs of life, nor by what comes behind the end', () => {
    const [created, ...rest] = eventsOf([' three'], 'resp_b');
    const done = { event: null, data: '[DONE]' };
    const next = created ? [created, event('keepalive', { sequence_number: 1 }), ...rest, done] : [];
    const all = joined(broken, next, true);
    expect(all.at(-1)).toEqual(done);
    expect(checkedResponse(all.slice(0, -1), 'joined').output[0].content[0].text).toBe('One two three');
  });
});

describe('streams that cannot be joined', () => {
  const one = eventsOf(['One', ' two'], 'resp_a');
  const place = { item_id: 'x', output_index: 0, content_index: 0 };
  const citation = { type: 'url_citation', url: 'https://example.com', start_index: 0, end_index: 3 };
  const reasoning = event('response.output_item.added', { output_index: 0, item: { id: 'rs_1', type: 'reasoning' } });
  const refusal = { type: 'refusal', refusal: '' };

  test('plain text can be, to its last event', () => {
    for (let cutAt = 0; cutAt < one.length; cutAt++) expect(read(one.slice(0, cutAt)).beyondText).toBe(false);
  });

  test.each([
    ['a thought', reasoning],
    ['a tool call', event('response.output_item.added', { output_index: 1, item: { type: 'function_call' } })],
    ['a second message', event('response.output_text.delta', { output_index: 1, content_index: 0, delta: 'x' })],
    [
      'a second part',
      event('response.content_part.added', { ...place, content_index: 1, part: { type: 'output_text' } }),
    ],
    ['a refusal', event('response.content_part.added', { ...place, part: refusal })],
    ['words of a refusal', event('response.refusal.delta', { ...place, delta: 'No' })],
    ['a source', event('response.output_text.annotation.added', { ...place, annotation: citation })],
    [
      'a part with a source',
      event('response.content_part.done', { ...place, part: { type: 'output_text', annotations: [citation] } }),
    ],
    ['probabilities', event('response.output_text.delta', { ...place, delta: 'x', logprobs: [{ token: 'x' }] })],
  ])('not once the client has %s', (_, told) => {
    expect(read([...one.slice(0, 4), told]).beyondText).toBe(true);
  });

  test('the second refuses what the first has begun to answer', () => {
    const next = eventsOf([' '], 'resp_b').slice(0, 3);
    const refused = event('response.content_part.added', { ...place, part: refusal });
    expect(diverges(one.slice(0, 5), [...next, refused])).toBe(true);
    expect(diverges(one.slice(0, 3), [...next, refused])).toBe(false);
  });

  test('the second has more to say than the first had closed with', () => {
    const more = eventsOf(['One two', ' three'], 'resp_b');
    for (const delivered of [7, 8, 9]) expect(diverges(one.slice(0, delivered), more)).toBe(true);
    const part = event('response.content_part.added', { ...place, content_index: 1, part: refusal });
    const same = eventsOf(['One two'], 'resp_b').slice(0, 7);
    expect(diverges(one.slice(0, 9), [...same, part])).toBe(true);
    expect(diverges(one.slice(0, 8), [...same, part])).toBe(false);
  });

  test('the second is done before it has said what was delivered', () => {
    expect(diverges(one.slice(0, 6), eventsOf(['One'], 'resp_b'))).toBe(true);
  });
});

test.each([
  ['text', 'Hi', [{ role: 'user', content: 'Hi' }]],
  ['items', [{ role: 'system', content: 'Be kind.' }], [{ role: 'system', content: 'Be kind.' }]],
  ['nothing', undefined, []],
])(
  'a request whose input is %s asks to go on from the delivered text, without its last white space',
  (_, input, items) => {
    const { continuation } = responsesTakeover;
    expect(continuation({ model: 'm', input }, 'One two \n')).toEqual({
      model: 'm',
      input: [...items, { role: 'assistant', content: 'One two' }],
    });
  },
);
