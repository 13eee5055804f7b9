/** Files, batches and fine-tuning of Vertex AI with Cloud Storage, behind OpenAI's SDK. */
import { beforeAll, describe, expect, test } from 'bun:test';
import type { OpenAI } from 'openai';
import {
  answered,
  type GoogleWorld,
  linesOf,
  refused,
  request,
  row,
  rowsFile,
  startGoogle,
} from '../google-resources.ts';
import type { Json } from '../harness.ts';
import { sharedByTests } from '../journey.ts';
import { messageOf } from '../providers/anthropic-api.ts';
import { bytes, json, lastCall, type SimulatedProvider } from '../providers/simulated.ts';
import * as vertex from '../providers/vertex.ts';
import type { World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;
let vtx: OpenAI;
let output: GoogleWorld['output'];

beforeAll(async () => {
  const google = await startGoogle('vtx', (to, simulated) => {
    const configurations = { custom_host: simulated.url, ...vertex.settings, vertex_storage_bucket_name: 'rows-1' };
    return to.saveProvider('vtx', 'vertex-ai', simulated, { key: 'ya29.token', configurations });
  });
  ({ provider, world, client: vtx, output } = google);
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);

const received = () => lastCall(provider);
describe('Vertex AI', () => {
  /** The part of the bucket that is the workspace's. */
  let folder: string;
  let id: string;
  const own = (name: string): string => `gs://rows-1/${folder}${name}`;

  beforeAll(async () => {
    const { body } = await world.gateway.get('/v1/workspaces');
    folder = `gw/${body.data[0].id}/`;
    id = encodeURIComponent(own('rows.jsonl'));
  });

  test('a file is an object of the bucket, with rows that the model reads', async () => {
    provider.script(vertex.known(bytes(200, '', {})));
    const file = await vtx.files.create({ file: await rowsFile(JSON.stringify(row('a', 'Hi'))), purpose: 'batch' });
    const content = `${JSON.stringify({ request: request('Hi'), requestId: 'a' })}\n`;
    expect(file as Json).toMatchObject({
      object: 'file',
      bytes: content.length,
      filename: 'rows.jsonl',
      purpose: 'batch',
    });
    const [, key = ''] = /^gs:\/\/rows-1\/(.*)$/.exec(decodeURIComponent(file.id)) ?? [];
    expect(key.startsWith(folder) && key.endsWith('/rows.jsonl')).toBe(true);
    expect(received()).toMatchObject({ method: 'PUT', path: `/rows-1/${key}` });
    expect(received().body.toString()).toBe(content);
    const foreign = { ...row('a', 'Hi'), body: { ...row('a', 'Hi').body, model: 'meta.llama-4-scout' } };
    expect(
      await refused(vtx.files.create({ file: await rowsFile(JSON.stringify(foreign)), purpose: 'batch' })),
    ).toMatchObject({ status: 400, message: expect.stringContaining('the row "a" names meta.llama-4-scout') });
  });

  test('rows for Claude are Anthropic’s, its job is Anthropic’s model, and its output is OpenAI’s rows', async () => {
    provider.script(vertex.known(bytes(200, '', {})));
    const model = 'anthropic.claude-sonnet-4-5@20250929';
    const asked = { ...row('a', 'Hi'), body: { ...row('a', 'Hi').body, model, max_tokens: 9 } };
    await vtx.files.create({ file: await rowsFile(JSON.stringify(asked)), purpose: 'batch' });
    expect(received().json).toEqual({
      custom_id: 'a',
      request: { anthropic_version: 'vertex-2023-10-16', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
    });
    const claude = 'publishers/anthropic/models/claude-sonnet-4-5@20250929';
    const done = job('SUCCEEDED', { model: claude, outputInfo: outputInfo() });
    provider.script(vertex.known(json(200, done)));
    const made = { input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h', model } as Json;
    await vtx.batches.create(made);
    expect(received().json.model).toBe(claude);
    const lines = [
      { custom_id: 'a', request: {}, response: messageOf('claude', { content: [{ type: 'text', text: 'Hello' }] }) },
      {
        custom_id: 'b',
        request: {},
        response: { type: 'error', error: { type: 'invalid_request_error', message: 'Too long.' } },
      },
      { custom_id: 'c', request: {}, response: '', status: 'INTERNAL' },
    ];
    provider.script(
      vertex.known(json(200, done)),
      vertex.known(
        bytes(200, lines.map((line) => JSON.stringify(line)).join('\n'), { 'content-type': 'application/jsonl' }),
      ),
    );
    expect(linesOf(await (await output('77')).text())).toMatchObject([
      { custom_id: 'a', response: { status_code: 200, body: { choices: [{ message: { content: 'Hello' } }] } } },
      { custom_id: 'b', response: null, error: { message: 'Too long.' } },
      { custom_id: 'c', response: null, error: { message: 'INTERNAL' } },
    ]);
    const llama = await refused(vtx.batches.create({ ...made, model: 'meta.llama-4-scout' }));
    expect(llama).toMatchObject({ status: 400, message: expect.stringContaining('has no batches here') });
  });

  test('an object is looked at and read under its id', async () => {
    provider.script(
      vertex.known(
        bytes(200, '', { 'x-goog-stored-content-length': '12', 'last-modified': 'Fri, 02 Jan 2026 03:04:05 GMT' }),
      ),
    );
    expect((await vtx.files.retrieve(id)) as Json).toMatchObject({ id, bytes: 12, created_at: 1_767_323_045 });
    expect(received()).toMatchObject({ method: 'HEAD', path: `/rows-1/${folder}rows.jsonl` });
    provider.script(vertex.known(bytes(200, 'content', { 'content-type': 'text/plain' })));
    expect(await (await vtx.files.content(id)).text()).toBe('content');
    expect(await refused(vtx.files.retrieve(encodeURIComponent('gs://../secret/x')))).toMatchObject({ status: 404 });
  });

  const jobs = `/v1/${vertex.place}/batchPredictionJobs`;
  const job = (state: string, more: object = {}) => ({
    name: `${vertex.place}/batchPredictionJobs/77`,
    model: 'publishers/google/models/gemini-2.5-flash',
    state: `JOB_STATE_${state}`,
    inputConfig: { gcsSource: { uris: [own('rows.jsonl')] } },
    createTime: '2026-01-02T03:04:05Z',
    endTime: '2026-01-02T04:04:05Z',
    completionStats: { successfulCount: '1', failedCount: '1' },
    ...more,
  });
  const outputInfo = () => ({ gcsOutputDirectory: own('out-77') });

  test('a batch is a prediction job from one object to another', async () => {
    provider.script(vertex.known(json(200, job('PENDING'))));
    const made: Json = {
      model: 'gemini-2.5-flash',
      input_file_id: id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
      job_name: 'nightly',
    };
    expect((await vtx.batches.create(made)) as Json).toMatchObject({
      id: '77',
      status: 'validating',
      input_file_id: id,
    });
    expect([received().path, received().json]).toEqual([
      jobs,
      {
        displayName: 'nightly',
        model: 'publishers/google/models/gemini-2.5-flash',
        inputConfig: { instancesFormat: 'jsonl', gcsSource: { uris: [own('rows.jsonl')] } },
        outputConfig: { predictionsFormat: 'jsonl', gcsDestination: { outputUriPrefix: own('').slice(0, -1) } },
      },
    ]);
    provider.script(vertex.known(json(200, job('SUCCEEDED', { outputInfo: outputInfo() }))));
    expect((await vtx.batches.retrieve('77')) as Json).toMatchObject({
      status: 'completed',
      completed_at: 1_767_326_645,
      output_file_id: encodeURIComponent(own('out-77/predictions.jsonl')),
      request_counts: { total: 2, completed: 1, failed: 1 },
    });
    provider.script(vertex.known(json(200, { batchPredictionJobs: [job('RUNNING')] })));
    expect((await vtx.batches.list()).data.map(({ status }) => status)).toEqual(['in_progress']);
    provider.script(
      vertex.known((call, response) => json(200, call.method === 'POST' ? {} : job('CANCELLING'))(call, response)),
    );
    expect((await vtx.batches.cancel('77')).status).toBe('cancelling');
  });

  test('the output of a batch is OpenAI’s rows, each under its own id', async () => {
    const lines = [
      { requestId: 'a', status: '', response: answered },
      { requestId: 'b', status: 'Too long.', response: {} },
    ];
    provider.script(
      vertex.known(json(200, job('SUCCEEDED', { outputInfo: outputInfo() }))),
      vertex.known(
        bytes(200, lines.map((line) => JSON.stringify(line)).join('\n'), { 'content-type': 'application/jsonl' }),
      ),
    );
    const rows = linesOf(await (await output('77')).text());
    expect(received().path).toBe(`/rows-1/${folder}out-77/predictions.jsonl`);
    expect(rows).toMatchObject([
      { custom_id: 'a', response: { status_code: 200, body: { choices: [{ message: { content: 'One.' } }] } } },
      { custom_id: 'b', response: null, error: { message: 'Too long.' } },
    ]);
  });

  const tuning = (state: string) => ({
    name: `${vertex.place}/tuningJobs/9`,
    baseModel: 'gemini-2.5-flash',
    state: `JOB_STATE_${state}`,
    createTime: '2026-01-02T03:04:05Z',
    supervisedTuningSpec: { trainingDatasetUri: own('rows.jsonl'), hyperParameters: { epochCount: '3' } },
    tunedModel: { endpoint: `${vertex.place}/endpoints/42` },
  });

  test('fine-tuning is supervised tuning', async () => {
    provider.script(vertex.known(json(200, tuning('PENDING'))));
    const method = {
      type: 'supervised' as const,
      supervised: { hyperparameters: { n_epochs: 3, learning_rate_multiplier: 'auto' as const } },
    };
    const made = await vtx.fineTuning.jobs.create({
      model: 'gemini-2.5-flash',
      training_file: id,
      suffix: 'mine',
      method,
    });
    expect(made as Json).toMatchObject({
      id: '9',
      object: 'fine_tuning.job',
      status: 'queued',
      training_file: id,
      hyperparameters: { n_epochs: 3 },
    });
    expect([received().path, received().json]).toEqual([
      `/v1/${vertex.place}/tuningJobs`,
      {
        baseModel: 'gemini-2.5-flash',
        supervisedTuningSpec: { trainingDatasetUri: own('rows.jsonl'), hyperParameters: { epochCount: 3 } },
        tunedModelDisplayName: 'mine',
      },
    ]);
    provider.script(vertex.known(json(200, tuning('SUCCEEDED'))));
    expect(await vtx.fineTuning.jobs.retrieve('9')).toMatchObject({
      status: 'succeeded',
      fine_tuned_model: 'endpoints.42',
    });
    provider.script(vertex.known(json(200, { tuningJobs: [tuning('RUNNING')] })));
    expect((await vtx.fineTuning.jobs.list()).data.map(({ status }) => status)).toEqual(['running']);
    provider.script(
      vertex.known((call, response) => json(200, call.method === 'POST' ? {} : tuning('CANCELLED'))(call, response)),
    );
    expect((await vtx.fineTuning.jobs.cancel('9')).status).toBe('cancelled');
    const dpo = { type: 'dpo' as const };
    expect(
      await refused(vtx.fineTuning.jobs.create({ model: 'gemini-2.5-flash', training_file: id, method: dpo })),
    ).toMatchObject({ status: 400 });
  });
});
