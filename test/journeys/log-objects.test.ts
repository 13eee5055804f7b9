/** Bodies in an object store that is away or has lost them, as readers of logs and exports see it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import * as openai from '../providers/openai.ts';
import { type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { type SimulatedObjectStore, startObjectStore } from '../servers/object-store.ts';
import { startWorld, type World } from '../world.ts';

let a: SimulatedProvider;
let bucket: SimulatedObjectStore;
let world: World;
let logId: string;
beforeAll(async () => {
  a = await startProvider(openai.says('Hello'));
  bucket = await startObjectStore();
  const { settings } = bucket;
  world = await startWorld(
    { a: { provider: 'openai', simulated: a } },
    {
      LOG_STORE_S3_BUCKET: settings.bucket,
      LOG_STORE_S3_ENDPOINT: settings.endpoint ?? '',
      LOG_STORE_S3_REGION: settings.region,
      LOG_STORE_S3_ACCESS_KEY_ID: settings.accessKeyId,
      LOG_STORE_S3_SECRET_ACCESS_KEY: settings.secretAccessKey,
    },
  );
  const question = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };
  const answer = await world.call('/v1/chat/completions', question, { 'x-gw-provider': '@a' });
  logId = answer.headers.get('x-gw-request-id') ?? '';
  await world.gateway.app.services.logs.settled();
});
afterAll(async () => {
  await world.gateway.stopWithoutFaults();
  await a.stop();
  await bucket.stop();
});

const read = async () => (await world.gateway.get(`/v1/logs/${logId}`)).body;

async function exported(): Promise<{ status: string; error: string | null; lines: string }> {
  const { gateway } = world;
  const made = await gateway.post('/v1/logs/exports', { filters: {}, requested_data: ['id', 'response'] });
  const path = `/v1/logs/exports/${made.body.id}`;
  await gateway.post(`${path}/start`);
  await gateway.app.jobs.runOnce('export-runner');
  const { status, error } = (await gateway.get(path)).body;
  const { signed_url } = (await gateway.get(`${path}/download`)).body;
  return { status, error, lines: signed_url ? await (await fetch(signed_url)).text() : '' };
}

test('bodies are shown from the store', async () => {
  expect(await read()).toMatchObject({ request: { body: { model: 'gpt-4o-mini' } }, response: { status: 200 } });
  expect(await read()).not.toHaveProperty('bodies_error');
  expect(await exported()).toMatchObject({ status: 'success', lines: expect.stringContaining('Hello') });
});

test('while the store is away a log says so and shows the rest, and an export fails rather than leave bodies out', async () => {
  bucket.isAway = true;
  const log = await read();
  expect(log.bodies_error).toBe('The object store does not answer now; the bodies can be read when it does');
  expect(log).toMatchObject({ _id: logId, response: { status: 200 }, metrics: { ai_model: 'gpt-4o-mini' } });
  expect(log.request).not.toHaveProperty('body');
  expect(await exported()).toMatchObject({ status: 'failed', error: expect.stringContaining('object store') });
  bucket.isAway = false;
  expect(await read()).not.toHaveProperty('bodies_error');
});

test('an object that is gone is named, and an export has null in its place', async () => {
  const [path = ''] = bucket.objects.keys();
  bucket.objects.clear();
  expect((await read()).bodies_error).toBe(`The object store has no object ${path}`);
  const { status, lines } = await exported();
  expect([status, JSON.parse(lines)]).toEqual(['success', { id: logId, response: null }]);
});
