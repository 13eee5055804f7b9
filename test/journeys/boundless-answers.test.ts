/** Answers without measure: a provider that sends ever more of what must be held here is stopped, with an error that says so. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { type Plane, savedProvider, startPlane } from '../gateway-deps.ts';
import * as openai from '../providers/openai.ts';
import { type Behaviour, bytes, lastCall, type SimulatedProvider, startProvider } from '../providers/simulated.ts';

const limit = 1_000_000;
let plane: Plane;
let provider: SimulatedProvider;

beforeAll(async () => {
  plane = startPlane({ settings: { answerLimit: limit } });
  provider = await startProvider(openai.says('fine'));
  plane.providers.set('a', savedProvider('a', { provider: 'openai', customHost: provider.url }));
  plane.providers.set('c', savedProvider('c', { provider: 'anthropic', customHost: provider.url }));
});
afterEach(() => {
  expect(plane.faults).toEqual([]);
});
afterAll(async () => {
  await plane.stop();
  await provider.stop();
});

const ask = async (slug: string, stream: boolean) => {
  const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5, stream };
  const response = await plane.call('/v1/chat/completions', body, { 'x-gw-provider': `@${slug}` });
  return { response, text: await response.text() };
};

const json = { 'content-type': 'application/json' };
const spaces = (count: number) => Buffer.alloc(count, ' ');

/** Writes the same piece again and again until the caller has had enough. */
const endless =
  (type: string, opening: string, piece: Buffer): Behaviour =>
  async (_, response) => {
    response.writeHead(200, { 'content-type': type });
    response.write(opening);
    while (!response.destroyed) await written(response, piece);
  };

const written = (response: ServerResponse, piece: Buffer): Promise<void> =>
  new Promise((resolve) => {
    response.once('close', resolve);
    response.write(piece, () => {
      response.off('close', resolve);
      setImmediate(resolve);
    });
  });

describe('a whole answer', () => {
  test('up to the limit arrives, packed or not, with its length or without', async () => {
    const whole = Buffer.from(`{"a":"${'x'.repeat(limit - 8)}"}`);
    const answers: Behaviour[] = [
      bytes(200, whole, { ...json, 'content-length': String(limit) }),
      bytes(200, whole, json),
      bytes(200, gzipSync(whole), { ...json, 'content-encoding': 'gzip' }),
    ];
    for (const answer of answers) {
      provider.script(answer);
      expect((await ask('a', false)).text.length).toBe(limit);
    }
  });

  const tooLarge: [what: string, answer: Behaviour][] = [
    ['that says so', bytes(200, spaces(limit + 1), { ...json, 'content-length': String(limit + 1) })],
    ['that is packed small', bytes(200, gzipSync(spaces(50 * limit)), { ...json, 'content-encoding': 'gzip' })],
    ['without an end', endless('application/json', '{"a":"', spaces(100_000))],
    ['that is an error', bytes(500, spaces(limit + 1), json)],
  ];
  for (const [what, answer] of tooLarge) {
    for (const slug of ['a', 'c']) {
      test(`of @${slug} beyond the limit, ${what}, is refused`, async () => {
        provider.script(answer);
        const { response, text } = await ask(slug, false);
        expect([response.status, JSON.parse(text).error.code]).toEqual([502, 'invalid_provider_response']);
        expect(JSON.parse(text).error.message).toContain('larger than 1000000 bytes');
      });
    }
  }

  test('that nobody needs to read has no limit', async () => {
    provider.script(bytes(200, spaces(3 * limit), { ...json, 'content-length': String(3 * limit) }));
    const response = await plane.call('/v1/proxy/anything', { a: 1 }, { 'x-gw-provider': '@a' });
    expect((await response.arrayBuffer()).byteLength).toBe(3 * limit);
  });
});

describe('a stream', () => {
  test('whose event never ends is broken off', async () => {
    for (const slug of ['a', 'c']) {
      provider.script(endless('text/event-stream', 'data: "', spaces(4_000_000)));
      const { response, text } = await ask(slug, true);
      expect([response.status, JSON.parse(text).error.message]).toEqual([502, expect.stringContaining('larger than')]);
      await lastCall(provider).abandoned;
    }
  });

  test('of signs of life alone is not held for ever', async () => {
    provider.script(endless('text/event-stream', '', Buffer.from(': here\n\n'.repeat(10_000))));
    const body = { model: 'm', messages: [], stream: true };
    const response = await plane.call('/v1/chat/completions', body, { 'x-gw-provider': '@a' });
    expect(response.status).toBe(200);
    await response.body?.cancel();
    await lastCall(provider).abandoned;
  });
});
