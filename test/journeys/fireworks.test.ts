/** Files and fine-tuning jobs of Fireworks, behind OpenAI's SDK. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type OpenAI, toFile } from 'openai';
import { openaiClient } from '../clients.ts';
import type { Json } from '../harness.ts';
import { sharedByTests } from '../journey.ts';
import { fireworksApi } from '../providers/fireworks.ts';
import { lastCall, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

const { api, kept } = fireworksApi('sk-fw-secret');
let provider: SimulatedProvider;
let world: World;
let client: OpenAI;

beforeAll(async () => {
  provider = await startProvider(api);
  world = await startWorld({});
  const custom_host = provider.url.replace('/v1', '/inference/v1');
  const configurations = { custom_host, fireworks_account_id: 'acme' };
  await world.saveProvider('fw', 'fireworks-ai', provider, { configurations });
  await world.saveProvider('nobody', 'fireworks-ai', provider, { configurations: { custom_host } });
  client = openaiClient(world, { 'x-gw-provider': '@fw' });
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);
beforeEach(() => {
  kept.datasets.clear();
  kept.jobs.clear();
});

const example = JSON.stringify({
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello' },
  ],
});
const talks = `${example}\n${example}\n`;
const upload = async (
  content = talks,
  purpose: OpenAI.FilePurpose = 'fine-tune',
  from = client,
  name = 'talks.jsonl',
) => from.files.create({ file: await toFile(Buffer.from(content), name), purpose });

describe('a file', () => {
  test('is a dataset that is made, filled at a signed address, and ready when it was checked', async () => {
    const file = await upload(talks, 'fine-tune', client, 'slow.jsonl');
    expect(file).toMatchObject({
      object: 'file',
      bytes: talks.length,
      filename: 'slow.jsonl',
      purpose: 'fine-tune',
      status: 'processed',
      created_at: 1_767_323_045,
    });
    expect(kept.datasets.get(file.id)).toMatchObject({ exampleCount: '2', format: 'CHAT', content: talks });
    const path = `/v1/accounts/acme/datasets/${file.id}`;
    expect(provider.calls.map((call) => `${call.method} ${call.path}`)).toEqual([
      'POST /v1/accounts/acme/datasets',
      `POST ${path}:getUploadEndpoint`,
      `PUT /signed/${file.id}`,
      `POST ${path}:validateUpload`,
      `GET ${path}`,
      `GET ${path}`,
    ]);
  });

  test('is listed, found and deleted', async () => {
    const { id } = await upload();
    expect((await client.files.list()).data).toMatchObject([{ id, status: 'processed' }]);
    expect(await client.files.retrieve(id)).toMatchObject({ id, filename: 'talks.jsonl' });
    expect(await client.files.delete(id)).toEqual({ id, object: 'file', deleted: true });
    await expect((async () => client.files.retrieve(id))()).rejects.toMatchObject({ status: 404 });
  });

  test('that Fireworks does not like is refused in its words, and what is no dataset by us', async () => {
    await expect(upload('{"broken":true}\n')).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('line 1 is not an example'),
    });
    provider.calls.length = 0;
    await expect(upload('%PDF-1.7')).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('datasets'),
    });
    expect(provider.calls).toEqual([]);
  });

  test('without an account is refused, naming the setting', async () => {
    const nobody = openaiClient(world, { 'x-gw-provider': '@nobody' });
    const refused = upload(example, 'fine-tune', nobody).catch((fault: Json) => fault.error);
    expect(await refused).toMatchObject({ field: 'fireworks_account_id' });
  });

  test('of rows for a batch is kept and run by the gateway', async () => {
    const body = { model: '@fw/llama', messages: [{ role: 'user', content: 'Hi' }] };
    const row = JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body });
    const { id } = await upload(row, 'batch');
    expect(id).toStartWith('gw_');
    expect(provider.calls).toEqual([]);
    const batch = await client.batches.create({
      input_file_id: id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    expect(batch.id).toStartWith('gw_');
  });
});

describe('a fine-tuning job', () => {
  test('is made of a file, looked at, and cancelled by deleting it', async () => {
    const training_file = (await upload()).id;
    const validation_file = (await upload()).id;
    const job = await client.fineTuning.jobs.create({
      model: 'llama-v3p1-8b-instruct',
      training_file,
      validation_file,
      suffix: 'mine',
      method: {
        type: 'supervised',
        supervised: { hyperparameters: { n_epochs: 2, batch_size: 'auto', learning_rate: 0.0001 } as Json },
      },
      integrations: [{ type: 'wandb', wandb: { project: 'p', entity: 'e' } }],
    });
    expect(lastCall(provider).json).toEqual({
      dataset: `accounts/acme/datasets/${training_file}`,
      evaluationDataset: `accounts/acme/datasets/${validation_file}`,
      baseModel: 'accounts/fireworks/models/llama-v3p1-8b-instruct',
      outputModel: 'accounts/acme/models/mine',
      epochs: 2,
      learningRate: 0.0001,
      wandbConfig: { enabled: true, project: 'p', entity: 'e' },
    });
    expect(job).toMatchObject({
      id: 'job-1',
      object: 'fine_tuning.job',
      status: 'running',
      training_file,
      validation_file,
      fine_tuned_model: null,
      hyperparameters: { n_epochs: 2 },
    });
    expect((await client.fineTuning.jobs.list()).data).toMatchObject([{ id: 'job-1' }]);
    expect(await client.fineTuning.jobs.cancel('job-1')).toMatchObject({ id: 'job-1', status: 'cancelled' });
    expect(kept.jobs.size).toBe(0);
  });

  test.each([
    ['JOB_STATE_VALIDATING', 'queued'],
    ['JOB_STATE_EVALUATION', 'running'],
    ['JOB_STATE_WRITING_RESULTS', 'running'],
    ['JOB_STATE_COMPLETED', 'succeeded'],
    ['JOB_STATE_FAILED', 'failed'],
    ['JOB_STATE_CANCELLED', 'cancelled'],
    ['JOB_STATE_DELETING', 'cancelled'],
  ])('that is %s is %s', async (state, status) => {
    kept.jobs.set('job-9', {
      name: 'accounts/acme/supervisedFineTuningJobs/job-9',
      state,
      status: { code: 'INTERNAL', message: 'out of memory' },
      outputModel: 'accounts/acme/models/mine',
    });
    const job = await client.fineTuning.jobs.retrieve('job-9');
    expect(job).toMatchObject({
      status,
      fine_tuned_model: status === 'succeeded' ? 'accounts/acme/models/mine' : null,
      error: status === 'failed' ? { code: 'INTERNAL', message: 'out of memory' } : null,
    });
  });

  test.each([
    ['hyperparameters.learning_rate_multiplier', { hyperparameters: { learning_rate_multiplier: 2 } }],
    ['hyperparameters.batch_size', { hyperparameters: { batch_size: 8 } }],
    ['method.type', { method: { type: 'dpo' as const } }],
  ])('is refused for what Fireworks does otherwise, naming %s', async (field, more) => {
    const asked = { model: 'llama', training_file: 'file-1', ...more };
    const refused = (async () => client.fineTuning.jobs.create(asked))().catch((fault: Json) => fault.error);
    expect(await refused).toMatchObject({ field });
    expect(provider.calls).toEqual([]);
  });
});
