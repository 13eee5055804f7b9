import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { callFacts } from '../../../test/call-facts.ts';
import type { Json } from '../../../test/harness.ts';
import { answerOf, eventsIn, record, recordsOf, type Scripted } from '../../../test/providers/gemini.ts';
import type { AnswerEvent } from '../chat/answer.ts';
import { chatFront } from '../fronts/chat/chat.ts';
import { readAnswer } from './answer.ts';
import { streamReader } from './reader.ts';
import { writeRequest } from './request.ts';

const model = 'gemini-3-flash-preview';
const facts = () => callFacts({ model, provider: 'google', strict: false });

function readStream(bytes: Uint8Array, sizes: readonly number[] = [bytes.length]): AnswerEvent[] {
  const reader = streamReader(facts());
  const events = eventsIn(bytes, sizes);
  return [...events.flatMap((event) => reader.read(event)), ...reader.end()];
}
const streamed = (scripted: Scripted): AnswerEvent[] => readStream(Buffer.from(recordsOf(model, scripted).join('')));

const everything: Scripted = {
  candidates: [
    {
      parts: [
        { text: 'Überlegen wir…', thought: true },
        { text: 'Grüße 🚀 aus Köln. ' },
        { functionCall: { id: 'f1', name: 'now', args: {} }, thoughtSignature: 'c2ln' },
        { functionCall: { name: 'weather', args: { city: 'Köln' } } },
        { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
        { codeExecutionResult: { output: '1' } },
      ],
    },
  ],
  usage: { thoughtsTokenCount: 5, totalTokenCount: 35 },
};

describe('a stream', () => {
  const records = (...bodies: Json[]): AnswerEvent[] => {
    const reader = streamReader(facts());
    const events = bodies.map((body) => ({ event: null, data: JSON.stringify(body) }));
    return [...events.flatMap((event) => reader.read(event)), ...reader.end()];
  };

  describe('in which a call is signed after it was made', () => {
    const call = (name: string, more: Json = {}) => ({ functionCall: { id: name, name, args: {} }, ...more });
    const said = (...parts: Json[]): Json => ({ candidates: [{ content: { parts } }] });
    const ended = (...parts: Json[]): Json => ({ candidates: [{ content: { parts }, finishReason: 'STOP' }] });
    const signed = { text: '', thoughtSignature: 'c2ln' };
    const told = (...bodies: Json[]): unknown[] =>
      records(...bodies).flatMap<unknown>((event) => {
        if (event.type === 'tool-call') return [[event.name, event.call, event.signature]];
        return event.type === 'signature' || event.type === 'text' ? [event.type] : [];
      });

    test('the call has its signature, whichever record brings it', () => {
      expect(told(said(call('f')), ended(signed))).toEqual([['f', 0, 'c2ln']]);
      expect(told(said(call('f'), signed), ended())).toEqual([['f', 0, 'c2ln']]);
      expect(told(ended(call('f')), ended(signed))).toEqual([['f', 0, 'c2ln']]);
      expect(told(said(call('f')), said({ text: '' }), ended({ thoughtSignature: 'c2ln' }))).toEqual([
        ['f', 0, 'c2ln'],
      ]);
      expect(told(said(call('f'), call('g')), ended(signed))).toEqual([
        ['f', 0, null],
        ['g', 1, 'c2ln'],
      ]);
    });

    test('what signs something else is left to that', () => {
      expect(told(said(call('f', { thoughtSignature: 'b25l' })), ended(signed))).toEqual([
        ['f', 0, 'b25l'],
        'signature',
      ]);
      expect(told(said(call('f')), ended({ text: 'So.', thoughtSignature: 'c2ln' }))).toEqual([
        ['f', 0, null],
        'signature',
        'text',
      ]);
    });

    test('a call that nobody signs is told before whatever follows, and before the end', () => {
      const events = records(said(call('f')), said({ text: 'So.' }), ended());
      expect(events.map(({ type }) => type)).toEqual(['start', 'tool-call', 'arguments', 'text', 'finish']);
      expect(records(said(call('f')), ended()).map(({ type }) => type)).toEqual([
        'start',
        'tool-call',
        'arguments',
        'finish',
      ]);
      expect(records(said(call('f'))).map(({ type }) => type)).toEqual(['start', 'tool-call', 'arguments']);
    });
  });

  test('that is blocked while the model speaks ends by the filter', () => {
    const events = records(
      { candidates: [{ content: { parts: [{ text: 'Well' }] } }] },
      { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } },
    );
    expect(events.filter(({ type }) => type === 'finish')).toEqual([
      {
        type: 'finish',
        choice: 0,
        reason: 'content_filter',
        providerReason: 'PROHIBITED_CONTENT',
        stopSequence: null,
      },
    ]);
  });

  test('tells a source once, however often it is named', () => {
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a.test', title: 'A' } }],
      groundingSupports: [{ segment: { startIndex: 0, endIndex: 2, text: 'It' }, groundingChunkIndices: [0] }],
    };
    const events = records(
      { candidates: [{ content: { parts: [{ text: 'It' }] }, groundingMetadata }] },
      { candidates: [{ content: { parts: [{ text: ' rains.' }] }, groundingMetadata, finishReason: 'STOP' }] },
    );
    expect(events.filter(({ type }) => type === 'annotations')).toHaveLength(1);
  });

  test('keeps sources whose pages, places and text come in different records', () => {
    const said = (text: string, groundingMetadata?: Json): Json => ({
      candidates: [{ content: { parts: [{ text }] }, groundingMetadata }],
    });
    const pages = { groundingChunks: [{ web: { uri: 'https://a.test', title: 'A' } }] };
    const support = { segment: { startIndex: 0, endIndex: 9, text: 'It rains.' }, groundingChunkIndices: [0] };
    const found = { url_citation: { url: 'https://a.test', title: 'A', start_index: 0, end_index: 9 } };
    const end = { candidates: [{ finishReason: 'STOP' }] };
    for (const stream of [
      [said('It', pages), said(' rains.', { groundingSupports: [support] }), end],
      [said('It', { groundingSupports: [support] }), said(' rains.', pages), end],
      [said('It', { ...pages, groundingSupports: [support] }), said(' rains.'), end],
    ]) {
      const told = records(...stream).filter((event) => event.type === 'annotations');
      expect(told).toMatchObject([{ annotations: [found] }]);
    }
  });

  test('tells pages that support nothing in particular at its end', () => {
    const groundingMetadata = { groundingChunks: [{ web: { uri: 'https://a.test', title: 'A' } }] };
    const events = records(
      { candidates: [{ content: { parts: [{ text: 'It' }] }, groundingMetadata }] },
      { candidates: [{ content: { parts: [{ text: ' rains.' }] }, finishReason: 'STOP' }] },
    );
    expect(events.filter(({ type }) => type === 'annotations')).toMatchObject([
      { annotations: [{ url_citation: { url: 'https://a.test', title: 'A' } }] },
    ]);
  });

  test('gives all parts, numbers calls over the whole of it, and ends with its usage', () => {
    const events = streamed(everything);
    const text = (type: string) =>
      events.flatMap((event) => (event.type === type && 'text' in event ? [event.text] : [])).join('');
    expect([text('thinking'), text('text')]).toEqual(['Überlegen wir…', 'Grüße 🚀 aus Köln. ']);
    expect(events.filter(({ type }) => type === 'tool-call' || type === 'arguments')).toEqual([
      { type: 'tool-call', choice: 0, call: 0, id: 'f1', name: 'now', signature: 'c2ln' },
      { type: 'arguments', choice: 0, call: 0, text: '{}' },
      { type: 'tool-call', choice: 0, call: 1, id: 'call_1', name: 'weather', signature: null },
      { type: 'arguments', choice: 0, call: 1, text: '{"city":"Köln"}' },
    ]);
    expect(events.map(({ type }) => type).filter((type) => type === 'media' || type === 'block')).toEqual([
      'media',
      'block',
    ]);
    expect(events.slice(-2)).toEqual([
      { type: 'finish', choice: 0, reason: 'tool_calls', providerReason: 'STOP', stopSequence: null },
      { type: 'usage', usage: expect.objectContaining({ inputTokens: 20, outputTokens: 15, reasoningTokens: 5 }) },
    ]);
    expect(events.filter(({ type }) => type === 'start')).toEqual([{ type: 'start', id: 'rDgB-1', model }]);
  });

  test('is the same wherever its bytes are cut', () => {
    const bytes = Buffer.from(recordsOf(model, everything).join(''));
    const whole = readStream(bytes);
    for (let size = 1; size < 40; size++) expect(readStream(bytes, [size, 1])).toEqual(whole);
    for (let at = 1; at < bytes.length; at++) expect(readStream(bytes, [at, bytes.length - at])).toEqual(whole);
  });

  test('that breaks off says no end', () => {
    const records = recordsOf(model, everything);
    const events = readStream(Buffer.from(records.slice(0, -1).join('')));
    expect(events.some(({ type }) => type === 'finish')).toBe(false);
  });

  test('whose every record says STOP ends once', () => {
    const said = (text: string) => record({ candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP' }] });
    const events = readStream(Buffer.from(said('A') + said('B')));
    expect(events.map(({ type }) => type)).toEqual(['start', 'text', 'text', 'finish']);
  });

  test('of a blocked prompt ends as filtered', () => {
    expect(streamed({ promptFeedback: { blockReason: 'SAFETY' } })).toMatchObject([
      { type: 'start' },
      { type: 'finish', choice: 0, reason: 'content_filter', providerReason: 'SAFETY' },
      { type: 'usage' },
    ]);
  });

  test('of several candidates keeps them apart', () => {
    const events = streamed({
      candidates: [{ parts: [{ text: 'A' }] }, { parts: [{ text: 'B' }], finishReason: 'SAFETY' }],
    });
    expect(events.filter(({ type }) => type === 'text' || type === 'finish')).toMatchObject([
      { choice: 0, text: 'A' },
      { choice: 1, text: 'B' },
      { choice: 0, reason: 'stop' },
      { choice: 1, reason: 'content_filter' },
    ]);
  });

  test('cites what was said in earlier records', () => {
    const groundingMetadata = {
      webSearchQueries: ['q1', 'q2'],
      groundingChunks: [{ web: { uri: 'https://a.test', title: 'A' } }],
      groundingSupports: [{ segment: { startIndex: 8, endIndex: 12, text: 'blau' }, groundingChunkIndices: [0] }],
    };
    const events = streamed({ candidates: [{ parts: [{ text: 'Für ja: blau.' }], groundingMetadata }] });
    expect(events.find(({ type }) => type === 'annotations')).toEqual({
      type: 'annotations',
      choice: 0,
      annotations: [
        { type: 'url_citation', url_citation: { start_index: 8, end_index: 12, url: 'https://a.test', title: 'A' } },
      ],
    });
    expect(events.at(-1)).toMatchObject({ usage: { units: { web_search: 2 } } });
  });

  test('in which the provider reports a fault breaks with the provider’s status', () => {
    const fault = { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } };
    for (const body of [fault, [fault]]) {
      const bytes = Buffer.from(recordsOf(model, everything)[0] + record(body));
      expect(() => readStream(bytes)).toThrow(
        expect.objectContaining({ status: 503, message: 'The model is overloaded.', type: 'UNAVAILABLE' }),
      );
    }
    expect(() => readStream(Buffer.from('data: <html>\n\n'))).toThrow(expect.objectContaining({ status: 502 }));
  });
});

describe('any answer', () => {
  const args = fc.dictionary(
    fc.string({ minLength: 1 }),
    fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
    { maxKeys: 3 },
  );
  const call = fc.record({ id: fc.uuid(), name: fc.stringMatching(/^[a-z_]{1,12}$/), args });
  /** Texts that no other text follows at once: neighbours are one. */
  const said = fc.record({
    text: fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text.trim() !== ''),
    calls: fc.uniqueArray(call, { minLength: 1, maxLength: 3, selector: ({ id }) => id }),
    signature: fc.base64String({ minLength: 4 }),
  });

  test('goes back to the model word for word, with its ids and signatures', () => {
    fc.assert(
      fc.property(said, ({ text, calls, signature }) => {
        const parts = [
          { text },
          ...calls.map((functionCall, index) => ({
            functionCall,
            ...(index === 0 && { thoughtSignature: signature }),
          })),
        ];
        const whole: Json = chatFront.write(readAnswer(answerOf(model, { candidates: [{ parts }] }), facts()), facts());
        const messages = [
          { role: 'user', content: 'Hi' },
          whole.choices[0].message,
          ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: '1' })),
        ];
        const next = callFacts({ model, body: { messages } });
        const { contents }: Json = writeRequest(chatFront.read(next), next, 'studio');
        expect(contents[1]).toEqual({ role: 'model', parts });
        expect(contents[2].parts.map((part: Json) => [part.functionResponse.id, part.functionResponse.name])).toEqual(
          calls.map(({ id, name }) => [id, name]),
        );
      }),
    );
  });

  test('says the same whole and streamed', () => {
    fc.assert(
      fc.property(said, ({ text, calls }) => {
        const scripted = { candidates: [{ parts: [{ text }, ...calls.map((functionCall) => ({ functionCall }))] }] };
        const whole = readAnswer(answerOf(model, scripted), facts()).choices[0]?.parts ?? [];
        const events = streamed(scripted);
        const spoken = events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('');
        const called = events.flatMap((event) => (event.type === 'tool-call' ? [[event.id, event.name]] : []));
        const argued = events.flatMap((event) => (event.type === 'arguments' ? [event.text] : []));
        expect(whole).toEqual([
          { type: 'text', text: spoken },
          ...called.map(([id = '', name = ''], index) => ({
            type: 'tool-call' as const,
            id,
            name,
            arguments: argued[index] ?? '',
            signature: null,
          })),
        ]);
      }),
    );
  });
});
