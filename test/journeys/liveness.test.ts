/** A stream lives by its content: openings, pings, comments and empty deltas win no time. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Plane, savedProvider, startPlane } from '../gateway-deps.ts';
import * as openai from '../providers/openai.ts';
import { type Behaviour, type SimulatedProvider, startProvider } from '../providers/simulated.ts';

let plane: Plane;
let idle: SimulatedProvider;
let sound: SimulatedProvider;

const heartbeats = [': still here\n\n', openai.opening, openai.part('')];

/** Says these, and then gives signs of life until it is left. */
const lingering =
  (...said: string[]): Behaviour =>
  async (call, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of said) response.write(chunk);
    let beat = 0;
    const timer = setInterval(() => response.write(heartbeats[beat++ % heartbeats.length]), 20);
    await call.abandoned;
    clearInterval(timer);
  };

beforeAll(async () => {
  plane = startPlane();
  idle = await startProvider();
  sound = await startProvider(openai.says('Hello', ' world'));
  plane.providers.set('a', savedProvider('a', { customHost: idle.url }));
  plane.providers.set('b', savedProvider('b', { customHost: sound.url }));
});
afterAll(async () => {
  expect(plane.faults).toEqual([]);
  await plane.stop();
  await idle.stop();
  await sound.stop();
});

const ask = async (config: string) => {
  const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true };
  const response = await plane.call('/v1/chat/completions', body, { 'x-gw-config': config });
  const text = await response.text();
  const records = await plane.settled();
  return { text, statuses: records.map(({ metrics }) => metrics.response_status_code) };
};

test('a stream that is opened and brings no content is given up when the time to the first token is over', async () => {
  idle.script(lingering(openai.opening));
  const targets = [{ provider: '@a', first_token_timeout: 150 }, { provider: '@b' }];
  const { text, statuses } = await ask(plane.saveConfig({ strategy: { mode: 'fallback' }, targets }));
  expect(statuses.toSorted()).toEqual([200, 504]);
  expect(text).toContain('Hello');
  expect(text).toContain('[DONE]');
});

test('a stream whose content stops is given up, whatever else it sends', async () => {
  idle.script(lingering(openai.opening, openai.part('Hel')));
  const { text, statuses } = await ask(plane.saveConfig({ provider: '@a', stream_idle_timeout: 150 }));
  expect(statuses).toEqual([504]);
  expect(text).toContain('stream_stalled');
  expect(text).not.toContain('[DONE]');
});
