/** Feedback while its answer is still being written, and right after it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import * as openai from '../providers/openai.ts';
import { json, type SimulatedProvider, startProvider, stream } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let a: SimulatedProvider;
let world: World;
beforeAll(async () => {
  a = await startProvider();
  world = await startWorld({ a: { provider: 'openai', simulated: a } });
});
afterAll(async () => {
  await world.gateway.stopWithoutFaults();
  await a.stop();
});

const ask = (traceId: string | null, more: object = {}, headers: Record<string, string> = {}) =>
  world.call(
    '/v1/chat/completions',
    { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }], ...more },
    { 'x-gw-provider': '@a', ...(traceId !== null && { 'x-gw-trace-id': traceId }), ...headers },
  );
const give = async (traceId: string) =>
  (await world.gateway.post('/v1/feedback', { trace_id: traceId, value: 5 }, { key: world.gateway.workspaceKey }))
    .status;

test('feedback on a call that waits for its provider, and on a stream that runs, is taken', async () => {
  const answers = Promise.withResolvers<void>();
  const ends = Promise.withResolvers<void>();
  a.script(async (call, response) => {
    await answers.promise;
    await stream(openai.wholeStream(['Hello']), 'end', ends.promise)(call, response);
  });
  const asked = ask('in-flight', { stream: true });
  while (a.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(await give('in-flight')).toBe(200);
  answers.resolve();
  const answer = await asked;
  expect(await give('in-flight')).toBe(200);
  ends.resolve();
  await answer.text();
  expect(await give('in-flight')).toBe(200);
});

test('feedback right after an answer is taken, however its call was logged', async () => {
  a.script(openai.says('Hello'));
  for (const headers of [{}, { 'x-gw-debug': 'false' }]) {
    const answer = await ask(null, {}, headers);
    expect(await give(answer.headers.get('x-gw-trace-id') ?? '')).toBe(200);
  }
  a.script(json(500, { error: { message: 'broken' } }));
  const failed = await ask(null);
  expect([failed.status, await give(failed.headers.get('x-gw-trace-id') ?? '')]).toEqual([500, 200]);
});

test('a call that was refused before it was known whose it is leaves no trace open', async () => {
  const refused = await ask('refused', {}, { 'x-gw-api-key': 'wrong' });
  expect([refused.status, await give('refused')]).toEqual([401, 404]);
});

test('feedback on a call whose async guardrail still runs is taken', async () => {
  const hook = await startProvider();
  const judges = Promise.withResolvers<void>();
  hook.script(async (call, response) => {
    await judges.promise;
    json(200, { verdict: true })(call, response);
  });
  a.script(openai.says('Hello'));
  const config = await world.saveConfig({
    provider: '@a',
    output_guardrails: [{ 'default.webhook': { webhookURL: `${hook.url}/judge` }, async: true }],
  });
  expect((await ask('judged', {}, { 'x-gw-config': config })).status).toBe(200);
  expect(await give('judged')).toBe(200);
  judges.resolve();
  await world.records('judged', 1);
  expect(await give('judged')).toBe(200);
  await hook.stop();
});
