/** Streams are asked for their usage; who did not ask does not see it. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { type Plane, savedProvider, startPlane } from '../../../test/gateway-deps.ts';
import * as openai from '../../../test/providers/openai.ts';
import { bytes, json, type SimulatedProvider, startProvider, stream } from '../../../test/providers/simulated.ts';
import { cutEvent } from './stream-usage.ts';

let plane: Plane;
let a: SimulatedProvider;

beforeAll(async () => {
  a = await startProvider(openai.says('Hello'));
  plane = startPlane();
  plane.providers.set('a', savedProvider('a', { customHost: a.url }));
  plane.providers.set('mistral', savedProvider('mistral', { provider: 'mistral-ai', customHost: a.url }));
  plane.providers.set('host', savedProvider('host', { provider: 'nobody-knows', customHost: a.url }));
});
afterAll(async () => {
  await plane.stop();
  await a.stop();
});
beforeEach(async () => {
  await plane.settled();
  plane.settings = { ...plane.settings, stream_usage: true };
  a.script(openai.says('Hello'));
});

const text = '{ "stream": true, "model": "gpt-4o-mini", "messages": [{"role":"user","content":"Hi"}] }';

async function asked(body: string, slug = 'a', path = '/v1/chat/completions') {
  const response = await plane.call(path, body, { 'x-gw-provider': `@${slug}` });
  const received = await response.text();
  const [record] = await plane.settled();
  return { sent: a.calls.at(-1)?.body.toString() ?? '', received, metrics: record?.metrics };
}

const whole = openai.wholeStream(['Hello']).join('');

test('a stream is asked for its usage, which the client does not see', async () => {
  const { sent, received, metrics } = await asked(text);
  expect(sent).toBe(`{"stream_options":{"include_usage":true},${text.slice(1)}`);
  expect(received).toBe(whole.replace(openai.usage, ''));
  expect(metrics).toMatchObject({ req_units: 20, res_units: 10, usage_estimated: false });
});

test('what else the client asks of the stream stays', async () => {
  const { sent } = await asked(JSON.stringify({ ...JSON.parse(text), stream_options: { include_obfuscation: false } }));
  expect(JSON.parse(sent).stream_options).toEqual({ include_obfuscation: false, include_usage: true });
});

test('a client that asks gets it, and its bytes travel', async () => {
  const body = JSON.stringify({ ...JSON.parse(text), stream_options: { include_usage: true } });
  const { sent, received } = await asked(body);
  expect([sent, received]).toEqual([body, whole]);
});

test.each([
  ['a whole answer', JSON.stringify({ ...JSON.parse(text), stream: false }), 'a', '/v1/chat/completions'],
  ['a provider that is not known to take it', text, 'host', '/v1/chat/completions'],
  ['a passthrough', text, 'a', '/v1/proxy/chat/completions'],
])('%s is asked for nothing', async (_, body, slug, path) => {
  a.script(body === text ? openai.says('Hello') : json(200, openai.completion('Hello')));
  expect((await asked(body, slug, path)).sent).toBe(body);
});

test('a setting of the organisation turns it off', async () => {
  plane.settings = { ...plane.settings, stream_usage: false };
  const { sent, received } = await asked(text);
  expect([sent, received]).toEqual([text, whole]);
});

test('other chunks without choices are shown', async () => {
  const verdict = `data: {"choices":[],"prompt_filter_results":[],"usage":null}\n\n`;
  a.script(stream([verdict, ...openai.wholeStream(['Hello'])]));
  expect((await asked(text)).received).toBe(verdict + whole.replace(openai.usage, ''));
});

test.each(['\n\n', '\r\n\r\n', '\r\r'])(
  'an event is cut out of the bytes around it, with lines ended by %j',
  (blank) => {
    const events = [`data: 1${blank}`, `id: 7${blank.slice(blank.length / 2)}data: {"a":1}${blank}`, `data: 3${blank}`];
    const cut = cutEvent(Buffer.from(events.join('')), '{"a":1}');
    expect(Buffer.from(cut ?? []).toString()).toBe(`${events[0]}${events[2]}`);
  },
);

test('a proxied stream without usage is counted by its words', async () => {
  a.script(stream([openai.opening, openai.part('word '.repeat(10)), openai.finish, openai.done]));
  const { metrics } = await asked(text, 'a', '/v1/proxy/chat/completions');
  expect(metrics).toMatchObject({ res_units: 10, usage_estimated: true, is_proxy_call: true, cost_known: true });
  expect(metrics?.req_units).toBeGreaterThan(0);
});

test('a call whose model has no price says so, in its answer and in its record', async () => {
  const body = JSON.stringify({ model: 'gpt-unheard-of', messages: [{ role: 'user', content: 'Hi' }] });
  a.script(json(200, openai.completion('Hello')));
  const unknown = await plane.call('/v1/chat/completions', body, { 'x-gw-provider': '@a' });
  await unknown.arrayBuffer();
  const [record] = await plane.settled();
  expect(unknown.headers.get('x-gw-cost')).toBe('unknown');
  expect(record?.metrics).toMatchObject({ cost: 0, cost_known: false, total_units: 30 });
  const known = await plane.call('/v1/chat/completions', body.replace('unheard-of', '4o'), { 'x-gw-provider': '@a' });
  await known.arrayBuffer();
  const [priced] = await plane.settled();
  expect(known.headers.get('x-gw-cost')).toBeNull();
  expect(priced?.metrics.cost_known).toBe(true);
});

test('what the program answers itself is free, and known to be', async () => {
  plane.providers.set('sandbox', savedProvider('sandbox', { provider: 'sandbox' }));
  const asking = { model: 'echo', messages: [{ role: 'user', content: 'Hi' }] };
  const answer = await plane.call('/v1/chat/completions', asking, { 'x-gw-provider': '@sandbox' });
  await answer.arrayBuffer();
  const [record] = await plane.settled();
  expect([answer.status, answer.headers.get('x-gw-cost')]).toEqual([200, null]);
  expect(record?.metrics).toMatchObject({ cost: 0, cost_known: true });
});

test('speech is charged by the character, or by a guess at its sound where the price is one of tokens', async () => {
  const speak = async (model: string) => {
    a.script(bytes(200, 'sound', { 'content-type': 'audio/mpeg' }));
    const asking = { model, voice: 'alloy', input: 'a'.repeat(1_000) };
    await (await plane.call('/v1/audio/speech', asking, { 'x-gw-provider': '@a' })).arrayBuffer();
    const [record] = await plane.settled();
    return record?.metrics;
  };
  const byCharacter = await speak('tts-1');
  expect(byCharacter).toMatchObject({ usage_estimated: false, cost_known: true });
  expect(byCharacter?.cost).toBeCloseTo(1.5, 10);
  const byToken = await speak('gpt-4o-mini-tts');
  expect(byToken).toMatchObject({ usage_estimated: true, cost_known: true, res_units: 1_400 });
  expect(byToken?.cost).toBeGreaterThan(1.6);
  expect((await speak('some-voice'))?.cost_known).toBe(false);
});
