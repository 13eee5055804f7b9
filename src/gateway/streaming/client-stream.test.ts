/** Streams on their way to the client: cut, in any pieces, taken up by another target, or ended with an error. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { saveConfig } from '../../../test/gateway-deps.ts';
import * as anthropic from '../../../test/providers/anthropic.ts';
import * as openai from '../../../test/providers/openai.ts';
import { inPieces, refusal, streamed } from '../../../test/providers/scripted.ts';
import { dialects, messageEvents, type StreamDialect } from '../../../test/stream-dialects.ts';
import { complete, encoder, never, newStreamLab, text, textIn, words } from '../../../test/stream-lab.ts';
import { objectsOf } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import { readEvents } from './sse.ts';

const { lab, scripts, asked, alone, rescued, ask } = newStreamLab();
afterAll(() => lab.deps.deadlines.stop());
beforeEach(() => {
  asked.continuesPrefix = false;
});
afterEach(() => {
  expect(lab.faults).toEqual([]);
});

/** Streams that end without a word. */
const silent = {
  messages: [anthropic.start, anthropic.ping, ...anthropic.end],
  responses: dialects.responses.whole([], 'id-of-b').filter((event) => event.includes('"response":')),
};

describe.each(Object.entries(dialects))('%s', (_, dialect) => {
  const whole = encoder.encode(dialect.whole(words).join(''));

  test('cut at every byte, with nobody behind, it is complete or ends in a typed error, never silently', async () => {
    for (const ending of ['end', 'break'] as const) {
      for (let cut = 0; cut < whole.length; cut++) {
        scripts.a = () => streamed([whole.subarray(0, cut)], ending);
        const told = await ask(dialect, alone);
        expect({ cut, ended: told.ended, begins: text.startsWith(told.text) }).toEqual({
          cut,
          ended: !told.failed,
          begins: true,
        });
        if (told.ended) expect(told).toMatchObject(complete);
      }
    }
  });

  test('in random pieces and cut at random, with comments and any line ends, the answer is complete', async () => {
    const lines = fc.constantFrom('\n', '\r\n', '\r');
    const sizes = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(lines, sizes, fc.nat(1000), fc.boolean(), async (line, pieces, thousandths, broken) => {
        const bytes = encoder.encode(
          [': hello\n\n', ...dialect.whole(words)].join(': beat\n\n').replaceAll('\n', line),
        );
        const cut = Math.floor((thousandths / 1000) * bytes.length);
        scripts.a = () => streamed(inPieces(bytes.subarray(0, cut), pieces), broken ? 'break' : 'end');
        scripts.b = () => streamed(inPieces(encoder.encode(dialect.whole(words, 'id-of-b').join('')), pieces));
        expect(await ask(dialect, rescued)).toMatchObject({ text, ended: true, failed: false });
      }),
      { numRuns: 150 },
    );
  });

  test('an untouched stream goes through byte for byte, in whatever pieces it comes', async () => {
    const bytes = encoder.encode(`: hello\r\n\r\n${dialect.whole(words).join('')}`);
    for (const size of [1, 7, 100_000]) {
      scripts.a = () => streamed(inPieces(bytes, [size]));
      expect((await ask(dialect, alone)).raw).toBe(new TextDecoder().decode(bytes));
    }
  });

  test('a text longer than is kept is not taken up by another target: it ends in a typed error', async () => {
    const long = Array.from({ length: 5 }, () => 'x'.repeat(1024 * 1024));
    const events = dialect.whole(long);
    const lastText = events.findLastIndex((event) => textIn(dialect, readEvents(encoder.encode(event))) !== '');
    scripts.a = () => streamed(events.slice(0, lastText + 1));
    scripts.b = () => streamed(dialect.whole(long));
    const told = await ask(dialect, rescued);
    expect({ ...told, raw: '', text: told.text.length }).toMatchObject({ text: 5 * 1024 * 1024, failed: true });
  });

  test('a third target goes on when the second breaks too, wherever each of them is cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(whole.length - 1), async (first, second) => {
        scripts.a = () => streamed([whole.subarray(0, first)], 'break');
        scripts.b = () => streamed([encoder.encode(dialect.whole(words, 'id-of-b').join('')).subarray(0, second)]);
        scripts.c = () => streamed(dialect.whole(words, 'id-of-c'));
        expect(await ask(dialect, rescued)).toMatchObject(complete);
      }),
      { numRuns: 200 },
    );
  });

  test('a target that diverges is passed over: the next one that says the same goes on', async () => {
    scripts.a = () => streamed(dialect.whole(words).slice(0, -4), 'break');
    scripts.b = () => streamed(dialect.whole(['Something quite different, and longer than what was said']));
    scripts.c = () => streamed(dialect.whole(words));
    expect(await ask(dialect, rescued)).toMatchObject(complete);
    scripts.c = () => streamed(dialect.whole(['One', ' two', ' or three']));
    const told = await ask(dialect, rescued);
    expect([told.ended, told.failed, text.startsWith(told.text)]).toEqual([false, true, true]);
    expect(told.raw).toContain('stream_diverged');
  });

  test.each([false, true])('a target that starts over is joined, not doubled (asked to go on: %p)', async (goesOn) => {
    asked.continuesPrefix = goesOn;
    const begun = dialect.whole(['Hel']);
    const lastText = begun.findLastIndex((event) => textIn(dialect, readEvents(encoder.encode(event))) !== '');
    scripts.a = () => streamed(begun.slice(0, lastText + 1), 'break');
    for (const pieces of [['Hello world'], ['H', 'ello', ' world']]) {
      scripts.b = () => streamed(dialect.whole(pieces, 'id-of-b'));
      expect(await ask(dialect, rescued)).toMatchObject({ ...complete, text: 'Hello world' });
    }
  });

  test('an event of megabytes passes', async () => {
    const huge = 'x'.repeat(3_000_000);
    scripts.a = () => streamed(inPieces(encoder.encode(dialect.whole([huge]).join('')), [65_536]));
    expect((await ask(dialect, alone)).text.length).toBe(huge.length);
  });
});

describe.each(['messages', 'responses'] as const)('%s: a model that goes on from its own beginning', (name) => {
  const dialect = dialects[name];
  /** The beginning that a model is given; null when it is asked for the whole. */
  const prefixIn = (body: JsonObject): string | null => {
    const last = objectsOf(name === 'messages' ? body.messages : body.input).at(-1);
    return last?.role === 'assistant' ? String(last.content) : null;
  };
  beforeEach(() => {
    asked.continuesPrefix = true;
  });

  test('is given it without its last white space, and joined to it, wherever the first was cut', async () => {
    const letters = encoder.encode(dialect.whole([...text]).join(''));
    scripts.b = (body) => streamed(dialect.whole([...text.slice(prefixIn(body)?.length ?? 0)], 'id-of-b'));
    for (let cut = 0; cut < letters.length; cut += 5) {
      scripts.a = () => streamed([letters.subarray(0, cut)], 'break');
      expect({ cut, ...(await ask(dialect, rescued)) }).toMatchObject({ cut, ...complete });
    }
  });

  test('and has nothing to add: what the first one opened is closed, wherever it was cut', async () => {
    const events = dialect.whole(words);
    scripts.b = (body) => streamed(prefixIn(body) === null ? events : silent[name]);
    for (let cut = 1; cut < events.length; cut++) {
      scripts.a = () => streamed(events.slice(0, cut), 'break');
      const told = await ask(dialect, rescued);
      expect({ cut, ...told }).toMatchObject({ cut, ...complete, text: told.text });
      expect(told.text !== '' && text.startsWith(told.text)).toBe(true);
    }
  });

  test('says what the answer began with: it is told only once the model is done with it', async () => {
    const begun = dialect.whole(['Ha ha']);
    const lastText = begun.findLastIndex((event) => textIn(dialect, readEvents(encoder.encode(event))) !== '');
    scripts.a = () => streamed(begun.slice(0, lastText + 1), 'break');
    for (const [pieces, said] of [
      [['H', 'a'], 'Ha haHa'],
      [['H', 'a h', 'ee'], 'Ha haHa hee'],
      [['Ha', ' ha', '!'], 'Ha ha!'],
    ] as const) {
      scripts.b = () => streamed(dialect.whole(pieces, 'id-of-b'));
      expect(await ask(dialect, rescued)).toMatchObject({ ...complete, text: said });
    }
  });

  test('a target that refuses it is asked again for the whole', async () => {
    const asked: (string | null)[] = [];
    scripts.a = () => streamed(dialect.whole(words).slice(0, 5), 'break');
    scripts.b = (body) => {
      asked.push(prefixIn(body));
      return prefixIn(body) === null ? streamed(dialect.whole(words)) : refusal(400);
    };
    expect(await ask(dialect, rescued)).toMatchObject(complete);
    expect(asked.map((prefix) => prefix && text.startsWith(prefix))).toEqual([true, null]);
  });
});

describe('messages: a model that thinks before it takes over', () => {
  const { messages } = dialects;
  const thinking = (index: number) => [
    anthropic.blockStart(index, { type: 'thinking', thinking: '' }),
    anthropic.event('content_block_delta', { index, delta: { type: 'thinking_delta', thinking: 'hm' } }),
    anthropic.blockStop(index),
  ];
  const textBlock = (index: number, said: string) => [
    anthropic.blockStart(index, { type: 'text', text: '' }),
    anthropic.text(said, index),
    anthropic.blockStop(index),
  ];
  const takeover = (...events: string[]) => {
    scripts.a = () => streamed(messageEvents(words).slice(0, 5), 'break');
    scripts.b = () => streamed([anthropic.start, ...events, ...anthropic.end]);
    scripts.c = () => refusal(500);
    return ask(messages, rescued);
  };

  test('its thoughts are left out, and its text goes on in the block of the first', async () => {
    const told = await takeover(...thinking(0), ...thinking(1), ...textBlock(2, text));
    expect(told).toMatchObject(complete);
    expect(told.raw).not.toContain('thinking');
    expect(told.raw).not.toMatch(/"index":[12]/);
  });

  test('a block behind its text moves up', async () => {
    const tool = anthropic.blockStart(2, { type: 'tool_use', id: 't', name: 'f', input: {} });
    const told = await takeover(...thinking(0), ...textBlock(1, text), tool, anthropic.blockStop(2));
    expect(told.raw).toContain(tool.replace('"index":2', '"index":1'));
  });

  test('thoughts alone are no continuation', async () => {
    expect(await takeover(...thinking(0))).toMatchObject({ ended: false, failed: true });
  });
});

describe('what cannot be rebuilt', () => {
  const { chat } = dialects;
  const toolCall = openai
    .part('x')
    .replace('"content":"x"', '"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":""}}]');

  test.each([
    ['a tool call', toolCall],
    ['a refusal', openai.part('x').replace('"content":"x"', '"refusal":"I will not"')],
    ['a second answer beside the first', openai.part('x').replace('"index":0', '"index":1')],
  ])('after %s nobody else is asked', async (_, event) => {
    scripts.a = () => streamed([openai.opening, event], 'break');
    scripts.b = () => streamed(openai.wholeStream(words));
    expect(await ask(chat, rescued)).toMatchObject({ ended: false, failed: true });
  });

  test('a restarted answer that calls a tool instead is not patched together', async () => {
    scripts.a = () => streamed([openai.opening, openai.part('One two')], 'break');
    scripts.b = () =>
      streamed([openai.opening, openai.part('One'), toolCall, openai.part(' two'), openai.finish, openai.done]);
    scripts.c = () => refusal(500);
    expect(await ask(chat, rescued)).toMatchObject({ text: 'One two', ended: false, failed: true });
  });

  test('of two answers beside each other, one that is done does not make the stream complete', async () => {
    const second = openai.part('x').replace('"index":0', '"index":1');
    scripts.a = () => streamed([openai.part('a'), second, openai.finish]);
    expect(await ask(chat, alone)).toMatchObject({ ended: false, failed: true });
  });

  test('what comes behind the terminator cannot break the stream any more', async () => {
    scripts.a = () =>
      streamed([...openai.wholeStream(words), 'data: {"hook_results":{}}\n\n', 'data: {"error":1}\n\n']);
    const { raw } = await ask(chat, alone);
    expect(raw.endsWith('data: [DONE]\n\ndata: {"hook_results":{}}\n\ndata: {"error":1}\n\n')).toBe(true);
    expect(lab.records.at(-1)?.metrics.response_status_code).toBe(200);
  });
});

describe('other dialects', () => {
  const { responses } = dialects;
  const created =
    'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1"}}\n\n';
  const image: StreamDialect = { ...dialects.chat, path: '/v1/images/generations' };

  test('responses: a cut stream ends in response.failed with the id and the next number', async () => {
    scripts.a = () =>
      streamed([created, 'data: {"type":"response.output_text.delta","sequence_number":1,"delta":"a"}\n\n']);
    const { raw } = await ask(responses, alone);
    const [last] = readEvents(encoder.encode(raw)).slice(-1);
    expect(last?.event).toBe('response.failed');
    expect(JSON.parse(last?.data ?? '{}')).toMatchObject({
      sequence_number: 2,
      response: { id: 'resp_1', status: 'failed', error: { code: 'stream_incomplete' } },
    });
  });

  test('responses: the provider’s own failure goes out as it came and is recorded as one', async () => {
    const failure =
      'event: response.failed\ndata: {"type":"response.failed","sequence_number":1,"response":{"error":{"code":"server_error","message":"no"}}}\n\n';
    scripts.a = () => streamed([created, failure]);
    expect((await ask(responses, alone)).raw).toBe(created + failure);
    expect(lab.records.at(-1)?.metrics.is_success).toBe(false);
  });

  test('images: the end of the bytes is the end, a break is none, and neither is half an event', async () => {
    const event = 'event: image_generation.partial_image\ndata: {"b64_json":"AAAA"}\n\n';
    scripts.a = () => streamed([event, event]);
    expect((await ask(image, alone)).raw).toBe(event + event);
    for (const [parts, ending] of [
      [[event], 'break'],
      [[event, event.slice(0, -6)], 'end'],
    ] as const) {
      scripts.a = () => streamed(parts, ending);
      expect((await ask(image, alone)).raw).toContain('stream_incomplete');
    }
  });
});

describe('the status of a break', () => {
  const { chat } = dialects;
  const after = (codes: readonly number[]) =>
    saveConfig(lab, {
      strategy: { mode: 'fallback', on_status_codes: codes, cb_config: never },
      targets: [{ provider: '@a' }, { provider: '@b' }],
    });
  const limited = 'data: {"error":{"message":"Slow down","type":"tokens","code":"rate_limit_exceeded"}}\n\n';

  test.each([
    ['a cut', 502, [openai.opening, openai.part('One')]],
    ['an error inside the stream', 429, [openai.opening, openai.part('One'), limited]],
  ])('%s goes on with the next target where a list names %d, and nowhere else', async (_, status, begun) => {
    scripts.a = () => streamed(begun, 'break');
    scripts.b = () => streamed(openai.wholeStream(words));
    expect(await ask(chat, after([500, status]))).toMatchObject({ text, ended: true, failed: false });
    for (const codes of [[500], []]) {
      expect(await ask(chat, after(codes))).toMatchObject({ text: 'One', ended: false, failed: true });
    }
  });
});

describe('an error as the first event', () => {
  const event = (json: object) => `data: ${JSON.stringify(json)}\n\n`;
  const openRouter = { error: { message: 'Provider is down', code: 503, metadata: { raw: 'x' } } };
  const limited = { error: { message: 'Slow down', type: 'tokens', param: null, code: 'rate_limit_exceeded' } };
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'req_1' };
  const failure = { type: 'response.failed', response: { error: { code: 'server_error', message: 'It broke' } } };
  const responsesError = { error: { message: 'It broke', type: 'api_error', param: null, code: 'server_error' } };

  test.each([
    ['chat', openRouter, 503, openRouter],
    ['chat', limited, 429, limited],
    ['messages', overloaded, 529, overloaded],
    ['responses', failure, 502, responsesError],
  ] as const)('of %s is an answer in the provider’s own words: %j', async (name, sent, status, told) => {
    scripts.a = () => streamed([event(sent)]);
    const answer = await ask(dialects[name], alone);
    expect({ status: answer.status, body: JSON.parse(answer.raw) }).toEqual({ status, body: told });
  });
});
