/** Batches of Cohere: its own SDK against the simulated API first, then OpenAI's SDK through the gateway. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { CohereClient } from 'cohere-ai';
import { type OpenAI, toFile } from 'openai';
import { openaiClient } from '../clients.ts';
import type { Json } from '../harness.ts';
import { sharedByTests } from '../journey.ts';
import { vectorOf } from '../providers/cohere.ts';
import { cohereJobs } from '../providers/cohere-jobs.ts';
import { type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

const { api, kept } = cohereJobs('sk-c-secret');
let provider: SimulatedProvider;
let address: string;
let world: World;
let client: OpenAI;

beforeAll(async () => {
  provider = await startProvider(api);
  address = provider.url.replace(/\/v1$/, '');
  world = await startWorld({});
  await world.saveProvider('c', 'cohere', { url: address });
  client = openaiClient(world, { 'x-gw-provider': '@c' });
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);
beforeEach(() => {
  kept.datasets.clear();
  kept.jobs.clear();
});

const model = 'embed-english-v3.0';
const row = (custom_id: string, body: object, url = '/v1/embeddings') =>
  JSON.stringify({ custom_id, method: 'POST', url, body: { model, ...body } });
const rows = [row('a', { input: 'one' }), row('b', { input: ['three'] })].join('\n');
const upload = async (content = rows, purpose: OpenAI.FilePurpose = 'batch', name = 'rows.jsonl') =>
  client.files.create({ file: await toFile(Buffer.from(content), name), purpose });
const create = (input_file_id: string, more: object = {}) =>
  client.batches.create({
    input_file_id,
    endpoint: '/v1/embeddings',
    completion_window: '24h',
    ...{ model, ...more },
  });
const finish = (id: string) => {
  kept.jobs.set(id, { ...kept.jobs.get(id), status: 'complete', output_dataset_id: `out-${id}` });
};
const linesOf = (content: string): Json[] =>
  content
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const output = (id: string): Promise<Response> =>
  fetch(`${world.gateway.url}/v1/batches/${id}/output`, {
    headers: { 'x-gw-api-key': world.gateway.workspaceKey, 'x-gw-provider': '@c' },
  });
const embedded = (custom_id: string, text: string, named: string) => ({
  id: expect.any(String),
  custom_id,
  response: {
    status_code: 200,
    request_id: expect.any(String),
    body: {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: vectorOf(text) }],
      model: named,
      usage: { prompt_tokens: 0, total_tokens: 0 },
      provider: 'cohere',
    },
  },
  error: null,
});

test("the simulated API is one to Cohere's own SDK", async () => {
  const own = new CohereClient({ token: 'sk-c-secret', environment: address });
  const file = new File([`${JSON.stringify({ text: 'one', custom_id: 'a' })}\n`], 'rows.jsonl');
  const { id = '' } = await own.datasets.create(file, undefined, { name: 'rows', type: 'embed-input' });
  expect((await own.datasets.get(id)).dataset).toMatchObject({ id, datasetType: 'embed-input' });
  expect((await own.datasets.list()).datasets).toHaveLength(1);
  const { jobId } = await own.embedJobs.create({ model, datasetId: id, inputType: 'search_document' });
  expect(await own.embedJobs.get(jobId)).toMatchObject({ status: 'processing', inputDatasetId: id });
  await own.embedJobs.cancel(jobId);
  expect((await own.embedJobs.list()).embedJobs).toMatchObject([{ jobId, status: 'cancelling' }]);
});

describe('a file', () => {
  test('is a dataset of texts, each with the id of its row', async () => {
    const file = await upload();
    expect(file).toMatchObject({ id: 'ds-1', filename: 'rows.jsonl', purpose: 'batch', status: 'uploaded' });
    expect(kept.datasets.get('ds-1')?.rows).toEqual([
      { text: 'one', custom_id: 'a' },
      { text: 'three', custom_id: 'b' },
    ]);
    expect(provider.calls[0]?.path).toBe('/v1/datasets?name=rows.jsonl&type=embed-input&keep_fields=custom_id%2Cid');
  });

  test('is listed, found and deleted', async () => {
    const { id } = await upload();
    expect((await client.files.list()).data).toMatchObject([{ id }]);
    expect(await client.files.retrieve(id)).toMatchObject({ id, bytes: 64, status: 'processed' });
    expect(await client.files.delete(id)).toEqual({ id, object: 'file', deleted: true });
    await expect((async () => client.files.retrieve(id))()).rejects.toMatchObject({ status: 404 });
  });

  test.each([
    ['asks for /v1/chat/completions', row('a', { messages: [] }, '/v1/chat/completions')],
    ['has several inputs', row('a', { input: ['one', 'two'] })],
    ['asks for dimensions or base64', row('a', { input: 'one', dimensions: 4 })],
    ['name several models', [rows, row('c', { input: 'one', model: 'embed-multilingual-v3.0' })].join('\n')],
    ['has input_type', row('a', { input: 'one', input_type: 'search_query' })],
  ])('whose rows cannot all be embedded by one job is refused before anything is sent: %s', async (words, content) => {
    await expect(upload(content)).rejects.toMatchObject({ status: 400, message: expect.stringContaining(words) });
    expect(provider.calls).toEqual([]);
  });

  test('for anything but a batch is refused', async () => {
    await expect(upload(rows, 'fine-tune')).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('purpose'),
    });
  });
});

describe('a batch', () => {
  test('is an embed job, begun when its file was looked at', async () => {
    const { id } = await upload(rows, 'batch', 'slow.jsonl');
    const batch = await create(id, { input_type: 'clustering' });
    expect(provider.calls.filter(({ path, method }) => method === 'GET' && path === `/v1/datasets/${id}`)).toHaveLength(
      2,
    );
    expect(batch).toMatchObject({
      id: 'job-1',
      object: 'batch',
      endpoint: '/v1/embeddings',
      status: 'in_progress',
      input_file_id: id,
      output_file_id: null,
      created_at: 1_767_323_045,
    });
    expect(provider.calls.find(({ path, method }) => method === 'POST' && path === '/v1/embed-jobs')?.json).toEqual({
      model,
      dataset_id: id,
      input_type: 'clustering',
      embedding_types: ['float'],
    });
  });

  test.each([
    ['complete', 'completed'],
    ['failed', 'failed'],
    ['cancelling', 'cancelling'],
    ['cancelled', 'cancelled'],
  ])('that is %s is %s, also in the list', async (status, expected) => {
    await create((await upload()).id);
    kept.jobs.set('job-1', { ...kept.jobs.get('job-1'), status });
    expect(await client.batches.retrieve('job-1')).toMatchObject({ status: expected });
    expect((await client.batches.list()).data).toMatchObject([{ id: 'job-1', status: expected }]);
  });

  test('is cancelled', async () => {
    await create((await upload()).id);
    expect(await client.batches.cancel('job-1')).toMatchObject({ id: 'job-1', status: 'cancelling' });
  });

  test('gives its vectors row by row, by itself and by its output file', async () => {
    await create((await upload()).id);
    expect((await output('job-1')).status).toBe(409);
    finish('job-1');
    const { output_file_id } = await client.batches.retrieve('job-1');
    expect(output_file_id).toBe('out-job-1');
    expect(linesOf(await (await output('job-1')).text())).toEqual([
      embedded('a', 'one', model),
      embedded('b', 'three', model),
    ]);
    const content = await client.files.content(output_file_id ?? '');
    expect(linesOf(await content.text())).toEqual([embedded('a', 'one', ''), embedded('b', 'three', '')]);
    expect(provider.calls.at(-1)?.headers.authorization).toBeUndefined();
  });

  test('whose output is packed in a way that nobody here knows says so', async () => {
    await create((await upload()).id);
    finish('job-1');
    kept.datasets.set('out-job-1', { ...kept.datasets.get('out-job-1'), codec: 'zstandard' });
    const answer = await output('job-1');
    expect([answer.status, await answer.text()]).toEqual([502, expect.stringContaining('packed by zstandard')]);
  });

  test.each([
    ['model', { model: undefined }],
    ['endpoint', { endpoint: '/v1/chat/completions' }],
  ])('without a proper %s is refused, naming it', async (field, more) => {
    const { id } = await upload();
    const refused = (async () => create(id, more))().catch((fault: Json) => fault.error);
    expect(await refused).toMatchObject({ field });
  });
});
