/** A 200 that is no answer is a fault of the provider's: retried, passed to the next target, and not billed. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { type Plane, savedProvider, startPlane } from '../gateway-deps.ts';
import * as openai from '../providers/openai.ts';
import { bytes, json, type SimulatedProvider, startProvider } from '../providers/simulated.ts';

let plane: Plane;
let broken: SimulatedProvider;
let sound: SimulatedProvider;

beforeAll(async () => {
  plane = startPlane();
  broken = await startProvider();
  sound = await startProvider();
  plane.providers.set('a', savedProvider('a', { customHost: broken.url }));
  plane.providers.set('b', savedProvider('b', { customHost: sound.url }));
});
beforeEach(() => {
  broken.calls.length = 0;
  sound.calls.length = 0;
});
afterAll(async () => {
  expect(plane.faults).toEqual([]);
  await plane.stop();
  await broken.stop();
  await sound.stop();
});

const question = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] };
const asJson = { 'content-type': 'application/json' };
const answer = JSON.stringify(openai.completion('Hello'));

const unusable: [what: string, text: string, headers: Record<string, string>][] = [
  ['a page', '<html><body>Sign in</body></html>', { 'content-type': 'text/html' }],
  ['nothing', '', asJson],
  ['half of an answer', answer.slice(0, -20), asJson],
  ['a bare word', '"ok"', asJson],
  ['an error', '{"error":{"message":"Out of capacity","type":"server_error"}}', asJson],
  ['half of a long answer', `{"choices":["${'x'.repeat(100_000)}`, asJson],
];

for (const [what, text, headers] of unusable) {
  test(`${what} under 200 is 502, and is tried again`, async () => {
    broken.script(bytes(200, text, { ...headers, 'content-length': String(text.length) }));
    const config = plane.saveConfig({ provider: '@a', retry: { attempts: 1 } });
    const response = await plane.call('/v1/chat/completions', question, { 'x-gw-config': config });
    expect([response.status, broken.calls.length]).toEqual([502, 2]);
    const [record] = await plane.settled();
    expect(record?.metrics).toMatchObject({ is_success: false, response_status_code: 502, cost: 0, total_units: 0 });
  });

  test(`${what} under 200 goes to the next target`, async () => {
    broken.script(bytes(200, text, { ...headers, 'content-length': String(text.length) }));
    sound.script(json(200, openai.completion('Hello')));
    const config = plane.saveConfig({
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@a' }, { provider: '@b' }],
    });
    const response = await plane.call('/v1/chat/completions', question, { 'x-gw-config': config });
    expect([response.status, sound.calls.length]).toEqual([200, 1]);
  });
}

test('an error under 200 is told in the provider’s own words', async () => {
  broken.script(json(200, { error: { message: 'Out of capacity', type: 'server_error' } }));
  const response = await plane.call('/v1/chat/completions', question, { 'x-gw-provider': '@a' });
  expect(await response.json()).toMatchObject({ error: { message: 'openai error: Out of capacity' } });
});

test('an answer with a field for errors beside its content is an answer', async () => {
  const response = { id: 'r', object: 'response', status: 'completed', error: null, output: [] };
  broken.script(json(200, response));
  const asked = await plane.call('/v1/responses', { model: 'm', input: 'Hi' }, { 'x-gw-provider': '@a' });
  expect([asked.status, await asked.json()]).toEqual([200, response]);
});
