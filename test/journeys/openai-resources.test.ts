/** OpenAI's own SDK on what a provider keeps: files, batches, fine-tuning, models, and assistants and vector stores through passthrough. */
import { afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { type OpenAI, toFile } from 'openai';
import { openaiClient } from '../clients.ts';
import { sharedByTests } from '../journey.ts';
import * as api from '../providers/openai-api.ts';
import { type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;
let client: OpenAI;

beforeAll(async () => {
  provider = await startProvider(api.openAiApi);
  world = await startWorld({ a: { provider: 'openai', simulated: provider } });
  client = openaiClient(world, { 'x-gw-provider': '@a' });
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);
afterEach(() => {
  for (const { headers } of provider.calls) {
    expect(headers.authorization).toBe('Bearer sk-a-secret');
    expect(JSON.stringify(headers)).not.toContain(world.gateway.workspaceKey);
  }
});

const asked = () => provider.calls.map(({ method, path }) => `${method} ${path}`);
const items = async <T>(pages: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of pages) all.push(item);
  return all;
};

describe('files', () => {
  const rows = Buffer.from('{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":{}}\n');

  test('are uploaded as they are', async () => {
    const made = await client.files.create({ file: await toFile(rows, 'rows.jsonl'), purpose: 'batch' });
    expect(made as unknown).toEqual(api.file);
    const [call] = provider.calls;
    const form = await new Response(new Uint8Array(call?.body ?? []), {
      headers: { 'content-type': call?.headers['content-type'] ?? '' },
    }).formData();
    const file = form.get('file');
    expect(form.get('purpose')).toBe('batch');
    expect(file instanceof Blob && Buffer.from(await file.arrayBuffer())).toEqual(rows);
  });

  test('of known length tell the provider their length', async () => {
    const body = Buffer.from('--x\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--x--\r\n');
    const type = 'multipart/form-data; boundary=x';
    await world.call('/v1/files', null, { 'x-gw-provider': '@a', 'content-type': type }, { body });
    expect(provider.calls[0]?.headers['content-length']).toBe(String(body.length));
    expect(provider.calls[0]?.body).toEqual(body);
  });

  test('are listed, shown, read and deleted', async () => {
    expect((await items(client.files.list({ purpose: 'batch', limit: 5, order: 'asc' }))) as unknown).toEqual([
      api.file,
    ]);
    expect((await client.files.retrieve('file-1')) as unknown).toEqual(api.file);
    const content = await client.files.content('file-1');
    expect(Buffer.from(await content.arrayBuffer())).toEqual(api.fileContent);
    expect(content.headers.get('content-type')).toBe('application/octet-stream');
    expect((await client.files.delete('file-1')) as unknown).toEqual({ id: 'file-1', object: 'file', deleted: true });
    expect(asked()).toEqual([
      'GET /v1/files?purpose=batch&limit=5&order=asc',
      'GET /v1/files/file-1',
      'GET /v1/files/file-1/content',
      'DELETE /v1/files/file-1',
    ]);
  });
});

const read = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${world.gateway.url}/v1${path}`, { headers: { 'x-gw-api-key': world.gateway.workspaceKey, ...headers } });

test('the output of a batch is the file that it names, and there is none before', async () => {
  const done = await read('/batches/batch_done/output', { 'x-gw-provider': '@a' });
  expect([done.status, Buffer.from(await done.arrayBuffer())]).toEqual([200, Buffer.from(api.fileContent)]);
  expect(asked()).toEqual(['GET /v1/batches/batch_done', 'GET /v1/files/file-1/content']);
  expect((await read('/batches/batch_1/output', { 'x-gw-provider': '@a' })).status).toBe(404);
});

test('a model is read under the name that the list gives it, written or encoded', async () => {
  for (const id of ['@a/gpt-4o', '@a%2Fgpt-4o']) {
    const response = await read(`/models/${id}`);
    expect((await response.json()) as unknown).toMatchObject({ id: '@a/gpt-4o', slug: 'gpt-4o', owned_by: 'openai' });
  }
  const unknown = await read('/models/@a/gpt-unheard-of');
  const { error } = (await unknown.json()) as { error: { code: string } };
  expect([unknown.status, error.code]).toEqual([404, 'model_not_found']);
  expect(asked()).toEqual([]);
});

test('batches are made, listed, shown and cancelled, the last with the empty body that came', async () => {
  const order = {
    input_file_id: 'file-1',
    endpoint: '/v1/chat/completions' as const,
    completion_window: '24h' as const,
    metadata: { team: 'search' },
  };
  expect((await client.batches.create(order)) as unknown).toEqual(api.batch);
  expect((await items(client.batches.list({ limit: 2 }))) as unknown).toEqual([api.batch]);
  expect((await client.batches.retrieve('batch_1')) as unknown).toEqual(api.batch);
  expect((await client.batches.cancel('batch_1')).status).toBe('cancelling');
  expect(asked()).toEqual([
    'POST /v1/batches',
    'GET /v1/batches?limit=2',
    'GET /v1/batches/batch_1',
    'POST /v1/batches/batch_1/cancel',
  ]);
  expect(provider.calls[0]?.json).toEqual(order);
  expect(provider.calls[3]?.body.length).toBe(0);
});

test('fine-tuning jobs are made, listed, shown, followed and cancelled', async () => {
  const order = {
    model: 'gpt-4o-mini-2024-07-18',
    training_file: 'file-1',
    method: { type: 'supervised' as const, supervised: { hyperparameters: { n_epochs: 2 } } },
  };
  expect((await client.fineTuning.jobs.create(order)) as unknown).toEqual(api.job);
  expect((await items(client.fineTuning.jobs.list())) as unknown).toEqual([api.job]);
  expect((await client.fineTuning.jobs.retrieve('ftjob-1')) as unknown).toEqual(api.job);
  expect(await items(client.fineTuning.jobs.listEvents('ftjob-1'))).toEqual([]);
  expect((await client.fineTuning.jobs.cancel('ftjob-1')).status).toBe('cancelled');
  expect(provider.calls[0]?.json).toEqual(order);
  const dashed = await world.call('/v1/fine-tuning/jobs', order, { 'x-gw-provider': '@a' });
  expect([dashed.status, provider.calls.at(-1)?.path]).toEqual([200, '/v1/fine_tuning/jobs']);
});

test('what a provider keeps goes to one target alone', async () => {
  const several = await world.saveConfig({
    strategy: { mode: 'fallback' },
    targets: [{ provider: '@a' }, { provider: '@a' }],
  });
  const single = await world.saveConfig({ strategy: { mode: 'single' }, targets: [{ provider: '@a' }] });
  for (const path of ['/v1/files', '/v1/batches', '/v1/fine_tuning/jobs']) {
    const refused = await world.call(path, {}, { 'x-gw-config': several });
    const { error } = (await refused.json()) as { error: { code: string } };
    expect([refused.status, error.code]).toEqual([400, 'router_invalid_target']);
    expect((await world.call(path, {}, { 'x-gw-config': single })).status).toBe(200);
  }
  const listed = await world.gateway.get('/v1/files', {
    key: world.gateway.workspaceKey,
    headers: { 'x-gw-config': several },
  });
  expect(listed.status).toBe(200);
});

describe('models', () => {
  test('of the provider are listed, shown and deleted', async () => {
    expect((await items(client.models.list())) as unknown).toEqual([api.model]);
    expect((await client.models.retrieve('gpt-4o-mini')) as unknown).toEqual(api.model);
    expect((await client.models.delete('ft:gpt-4o-mini:org::1')).deleted).toBe(true);
    expect(asked().slice(0, 2)).toEqual(['GET /v1/models', 'GET /v1/models/gpt-4o-mini']);
  });

  test('of the workspace are listed when no provider is named, and the models so listed can be called', async () => {
    const listed = await items(openaiClient(world).models.list());
    const ours = listed.find(({ id }) => id === '@a/gpt-4o-mini');
    expect(ours).toMatchObject({ id: '@a/gpt-4o-mini', object: 'model', owned_by: 'openai' });
    // No price list knows the sandbox's.
    expect(listed.map(({ id }) => id)).toContain('@sandbox/echo');
    expect(provider.calls).toEqual([]);
  });

  test('of the workspace are filtered, counted and paged', async () => {
    const list = async (query: string, headers: Record<string, string> = {}) =>
      (await world.gateway.get(`/v1/models${query}`, { key: world.gateway.workspaceKey, headers })).body;
    const openai = await list('?ai_service=openai');
    const page = await list('?provider=@a&limit=2&offset=1&order=desc');
    const whole = await list('?provider=a&order=desc');
    expect(openai.total_count).toBe(whole.total_count);
    expect(page.total_count).toBe(whole.total_count);
    expect(page.data).toEqual(whole.data.slice(1, 3));
    const asked = await list('', { 'x-gw-provider': '@a', 'x-gw-fetch-integrated-models': 'true' });
    expect(asked.total_count).toBe(whole.total_count);
    expect((await list('', { 'x-gw-provider': '@a', 'x-gw-models-endpoint': '1' })).total_count).toBe(
      whole.total_count,
    );
  });
});

describe('what the gateway has no route of its own for', () => {
  test('assistants and threads pass through with their beta header', async () => {
    const { assistants, threads } = client.beta;
    expect((await assistants.create({ model: 'gpt-4o', name: 'Tutor' })) as unknown).toEqual(api.assistant);
    expect((await assistants.retrieve('asst_1')) as unknown).toEqual(api.assistant);
    expect((await threads.create({})) as unknown).toEqual(api.thread);
    expect((await threads.runs.create('thread_1', { assistant_id: 'asst_1' })) as unknown).toEqual(api.run);
    expect((await assistants.delete('asst_1')).deleted).toBe(true);
    expect(provider.calls.map(({ headers }) => headers['openai-beta'])).toEqual(Array(5).fill('assistants=v2'));
    expect(provider.calls[0]?.json).toEqual({ model: 'gpt-4o', name: 'Tutor' });
  });

  test('vector stores pass through', async () => {
    expect((await client.vectorStores.create({ name: 'Papers' })) as unknown).toEqual(api.store);
    expect((await items(client.vectorStores.list({ limit: 1 }))) as unknown).toEqual([api.store]);
    expect((await client.vectorStores.files.create('vs_1', { file_id: 'file-1' })) as unknown).toEqual(api.storeFile);
    expect(asked()).toEqual([
      'POST /v1/vector_stores',
      'GET /v1/vector_stores?limit=1',
      'POST /v1/vector_stores/vs_1/files',
    ]);
  });

  test("a path that the provider does not have is the provider's own 404", async () => {
    const error = await client.get('/nowhere/at/all').catch((fault: unknown) => fault);
    expect(error).toMatchObject({ status: 404, type: 'invalid_request_error' });
  });
});
