/** A log store that does not answer in time, or not at all: readers are told, calls go on. */
import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Json } from '../harness.ts';
import * as openai from '../providers/openai.ts';
import { type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let a: SimulatedProvider;
let world: World;
beforeEach(async () => {
  a = await startProvider(openai.says('Hello'));
});
afterEach(async () => {
  await world.stop();
  await a.stop();
});

const ask = (traceId: string) =>
  world.call(
    '/v1/chat/completions',
    { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] },
    { 'x-gw-provider': '@a', 'x-gw-trace-id': traceId },
  );
const give = (traceId: string) =>
  world.gateway.post('/v1/feedback', { trace_id: traceId, value: 1 }, { key: world.gateway.workspaceKey });

const range = 'time_of_generation_min=2026-01-01T00:00:00Z&time_of_generation_max=2026-01-02T00:00:00Z';
const reads = (logId: string) => [
  '/v1/logs',
  `/v1/logs/${logId}`,
  '/v1/logs/traces/some',
  `/v1/logs/filter-values?${range}`,
  '/v1/logs/groups/model',
  '/v1/analytics/groups/model',
  `/v1/analytics/groups/metadata/_user?${range}`,
  `/v1/analytics/graphs/cost?${range}`,
  `/v1/analytics/graphs/feedbacks?${range}`,
  `/v1/analytics/summary/cache?${range}`,
];

async function expectUnavailable(logId: string, words: string): Promise<void> {
  const answers = await Promise.all(
    reads(logId).map(async (path) => ({ path, answer: await world.gateway.get(path) })),
  );
  const exporting = await world.gateway.post('/v1/logs/exports', { filters: {}, requested_data: ['id'] });
  for (const { path, answer } of [...answers, { path: 'POST /v1/logs/exports', answer: exporting }]) {
    const body: Json = answer.body;
    expect([path, answer.status, body.data?.errorCode]).toEqual([path, 503, 'AB04']);
    expect(body.data.message).toContain(words);
    expect(answer.headers.get('retry-after')).toBe('1');
  }
}

describe('a query that takes too long', () => {
  test('is cut off with 503 that says so, while calls go on', async () => {
    world = await startWorld({ a: { provider: 'openai', simulated: a } }, { LOG_QUERY_TIMEOUT_MS: '100' });
    const answer = await ask('some');
    const logId = answer.headers.get('x-gw-request-id') ?? '';
    await world.gateway.app.services.logs.settled();
    expect((await give('some')).status).toBe(200);
    // Whoever saves feedback now waits for the lock, and with it the thread that answers all queries.
    const lock = new Database(join(world.gateway.dataDir, 'logs', 'feedback.db'));
    lock.run('begin immediate');
    const stuck = await give('some');
    expect([stuck.status, stuck.body.data.message]).toEqual([503, expect.stringContaining('needed more than 0.1 s')]);
    await expectUnavailable(logId, 'needed more than 0.1 s');
    expect((await ask('other')).status).toBe(200);
    lock.run('rollback');
    lock.close();
    expect(world.gateway.faults).toEqual([]);
  });
});

describe('a log store that is away', () => {
  test('is told as such, while calls go on', async () => {
    // Nothing listens there.
    const away = { CLICKHOUSE_URL: 'http://127.0.0.1:9/gw' };
    world = await startWorld({ a: { provider: 'openai', simulated: a } }, away);
    expect((await ask('some')).status).toBe(200);
    const words = 'The log store does not answer at the moment';
    await expectUnavailable(Bun.randomUUIDv7(), words);
    const refused = await give('some');
    expect([refused.status, refused.body.data.message]).toEqual([503, expect.stringContaining(words)]);
  });
});
