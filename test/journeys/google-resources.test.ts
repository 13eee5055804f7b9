/** Files, batches and fine-tuning of Google's, behind OpenAI's SDK: at AI Studio, and on Vertex AI with Cloud Storage. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { type OpenAI, toFile } from 'openai';
import { openaiClient } from '../clients.ts';
import type { Json } from '../harness.ts';
import { sharedByTests } from '../journey.ts';
import { messageOf } from '../providers/anthropic-api.ts';
import { answerOf, startGemini, studio } from '../providers/gemini.ts';
import { type Behaviour, bytes, json, lastCall, type SimulatedProvider } from '../providers/simulated.ts';
import * as vertex from '../providers/vertex.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;
let gem: OpenAI;
let vtx: OpenAI;

beforeAll(async () => {
  provider = await startGemini(json(200, {}));
  world = await startWorld({ gem: { provider: 'google', simulated: provider } });
  const configurations = { custom_host: provider.url, ...vertex.settings, vertex_storage_bucket_name: 'rows-1' };
  await world.saveProvider('vtx', 'vertex-ai', provider, { key: 'ya29.token', configurations });
  gem = openaiClient(world, { 'x-gw-provider': '@gem' });
  vtx = openaiClient(world, { 'x-gw-provider': '@vtx' });
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);

const received = () => lastCall(provider);
const row = (custom_id: string, content: string) => ({
  custom_id,
  method: 'POST',
  url: '/v1/chat/completions',
  body: { model: 'gemini-2.5-flash', messages: [{ role: 'user', content }], max_tokens: 5 },
});
const rowsFile = (...lines: string[]) => toFile(Buffer.from(lines.join('\n')), 'rows.jsonl');
const request = (text: string) => ({
  contents: [{ role: 'user', parts: [{ text }] }],
  generationConfig: { maxOutputTokens: 5 },
});
const linesOf = (text: string): Json[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const output = async (slug: string, id: string): Promise<Response> =>
  fetch(`${world.gateway.url}/v1/batches/${id}/output`, {
    headers: { 'x-gw-api-key': world.gateway.workspaceKey, 'x-gw-provider': `@${slug}` },
  });
const answered = answerOf('gemini-2.5-flash', { candidates: [{ parts: [{ text: 'One.' }] }] });
const refused = (asking: PromiseLike<unknown>): Promise<Json> =>
  Promise.resolve(asking).then(
    () => Promise.reject(new Error('Nothing failed')),
    (fault) => ({ status: fault.status, message: fault.message }),
  );

describe('AI Studio', () => {
  const stored = {
    name: 'files/abc',
    displayName: 'rows.jsonl',
    mimeType: 'application/jsonl',
    sizeBytes: '321',
    createTime: '2026-01-02T03:04:05Z',
    state: 'ACTIVE',
  };
  const shown = {
    id: 'abc',
    object: 'file',
    bytes: 321,
    created_at: 1_767_323_045,
    expires_at: null,
    filename: 'rows.jsonl',
    status: 'processed',
    status_details: null,
  };
  /** Uploads ask for an address first; the address itself needs no key. */
  const uploads: Behaviour = (call, response) => {
    if (call.path.startsWith('/upload-to/')) return json(200, { file: stored })(call, response);
    return studio(json(200, {}, { 'x-goog-upload-url': `${provider.url}/upload-to/1` }))(call, response);
  };

  test('a file for a batch is rewritten row by row and brought to the address that was given', async () => {
    provider.script(uploads);
    const lines = [JSON.stringify(row('a', 'Hi')), '', JSON.stringify(row('b', 'Ho'))];
    const file = await gem.files.create({ file: await rowsFile(...lines), purpose: 'batch' });
    expect(file as Json).toMatchObject({ ...shown, purpose: 'batch' });
    const [start, upload] = provider.calls;
    const rewritten = [
      { key: 'a', request: request('Hi') },
      { key: 'b', request: request('Ho') },
    ];
    const content = rewritten.map((each) => `${JSON.stringify(each)}\n`).join('');
    expect(start).toMatchObject({
      method: 'POST',
      path: '/upload/v1beta/files',
      json: { file: { displayName: 'rows.jsonl' } },
    });
    expect(start?.headers).toMatchObject({
      'x-goog-upload-protocol': 'resumable',
      'x-goog-upload-command': 'start',
      'x-goog-upload-header-content-length': String(Buffer.byteLength(content)),
      'x-goog-upload-header-content-type': 'application/jsonl',
    });
    expect(upload?.headers).toMatchObject({
      'x-goog-upload-command': 'upload, finalize',
      'content-type': 'application/jsonl',
    });
    expect(upload?.headers['x-goog-api-key']).toBeUndefined();
    expect(upload?.body.toString()).toBe(content);
  });

  test('any other file is brought as it is', async () => {
    provider.script(uploads);
    const content = Buffer.from([0, 255, 13, 10, 45, 45]);
    await gem.files.create({ file: await toFile(content, 'cat.png', { type: 'image/png' }), purpose: 'vision' });
    expect(received().body).toEqual(content);
    expect(received().headers['content-type']).toBe('image/png');
  });

  test('a line that is no row is refused by its number, and nothing is uploaded', async () => {
    const lines = [JSON.stringify(row('a', 'Hi')), '{"custom_id":"b"}'];
    const fault = await refused(gem.files.create({ file: await rowsFile(...lines), purpose: 'batch' }));
    expect(fault).toEqual({ status: 400, message: expect.stringContaining('line 2 is not a row of a batch') });
    expect(provider.calls).toEqual([]);
  });

  test('files are listed over pages, found, read and deleted', async () => {
    const page = (name: string, more: object = {}) => ({ files: [{ ...stored, name: `files/${name}` }], ...more });
    provider.script(
      studio((call, response) =>
        json(200, call.path.includes('pageToken=2') ? page('c') : page('b', { nextPageToken: '2' }))(call, response),
      ),
    );
    const listed = await gem.files.list({ limit: 1 });
    expect(listed.data.map(({ id }) => id)).toEqual(['b']);
    const rest = await gem.files.list({ limit: 5, after: 'b' });
    expect(rest.data.map(({ id }) => id)).toEqual(['c']);
    provider.script(studio(json(200, stored)));
    expect((await gem.files.retrieve('abc')) as Json).toMatchObject(shown);
    expect(received().path).toBe('/v1beta/files/abc');
    provider.script(studio(bytes(200, 'content', { 'content-type': 'text/plain' })));
    expect(await (await gem.files.content('abc')).text()).toBe('content');
    expect(received().path).toBe('/download/v1beta/files/abc:download?alt=media');
    provider.script(studio(json(200, {})));
    expect((await gem.files.delete('abc')) as Json).toMatchObject({ id: 'abc', deleted: true });
    expect(received()).toMatchObject({ method: 'DELETE', path: '/v1beta/files/abc' });
  });

  const operation = (state: string, more: object = {}) => ({
    name: 'batches/b1',
    metadata: {
      state: `BATCH_STATE_${state}`,
      createTime: '2026-01-02T03:04:05Z',
      updateTime: '2026-01-02T04:04:05Z',
      inputConfig: { fileName: 'files/abc' },
      batchStats: { requestCount: '2', successfulRequestCount: '1', failedRequestCount: '1' },
    },
    ...more,
  });

  test('a batch is made of a file or of rows, looked at, listed and cancelled', async () => {
    provider.script(studio(json(200, operation('PENDING'))));
    const made: Json = {
      model: 'gemini-2.5-flash',
      input_file_id: 'abc',
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
      job_name: 'nightly',
    };
    expect((await gem.batches.create(made)) as Json).toMatchObject({
      id: 'b1',
      object: 'batch',
      status: 'validating',
      input_file_id: 'abc',
      created_at: 1_767_323_045,
      request_counts: { total: 2, completed: 1, failed: 1 },
    });
    expect([received().path, received().json]).toEqual([
      '/v1beta/models/gemini-2.5-flash:batchGenerateContent',
      { batch: { displayName: 'nightly', inputConfig: { fileName: 'files/abc' } } },
    ]);
    await gem.batches.create({ ...made, input_file_id: undefined, requests: [row('a', 'Hi')] });
    expect(received().json.batch.inputConfig).toEqual({
      requests: { requests: [{ request: request('Hi'), metadata: { key: 'a' } }] },
    });
    provider.script(studio(json(200, operation('RUNNING'))));
    expect((await gem.batches.retrieve('b1')).status).toBe('in_progress');
    provider.script(
      studio(json(200, { operations: [operation('FAILED', { error: { code: 3, message: 'Bad file.' } })] })),
    );
    expect((await gem.batches.list()).data as Json).toMatchObject([
      { id: 'b1', status: 'failed', failed_at: 1_767_326_645, errors: { data: [{ message: 'Bad file.' }] } },
    ]);
    provider.script(
      studio((call, response) => json(200, call.method === 'POST' ? {} : operation('CANCELLED'))(call, response)),
    );
    expect((await gem.batches.cancel('b1')).status).toBe('cancelled');
    expect(provider.calls.slice(-2).map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1beta/batches/b1:cancel',
      'GET /v1beta/batches/b1',
    ]);
  });

  test('the output of a batch is OpenAI’s rows, each under its own id', async () => {
    provider.script(studio(json(200, operation('RUNNING'))));
    expect((await output('gem', 'b1')).status).toBe(409);
    const lines = [
      { key: 'a', response: answered },
      { key: 'b', error: { code: 3, message: 'Too long.', status: 'INVALID_ARGUMENT' } },
    ];
    provider.script(
      studio(json(200, operation('SUCCEEDED', { response: { responsesFile: 'files/batch-b1' } }))),
      studio(bytes(200, lines.map((line) => JSON.stringify(line)).join('\n'), { 'content-type': 'application/jsonl' })),
    );
    const rows = linesOf(await (await output('gem', 'b1')).text());
    expect(received().path).toBe('/download/v1beta/files/batch-b1:download?alt=media');
    expect(rows).toMatchObject([
      {
        custom_id: 'a',
        response: { status_code: 200, body: { choices: [{ message: { content: 'One.' } }] } },
        error: null,
      },
      { custom_id: 'b', response: null, error: { code: 'INVALID_ARGUMENT', message: 'Too long.' } },
    ]);
    const inlinedResponses = { inlinedResponses: [{ metadata: { key: 'a' }, response: answered }] };
    provider.script(studio(json(200, operation('SUCCEEDED', { response: { inlinedResponses } }))));
    expect(linesOf(await (await output('gem', 'b1')).text())).toMatchObject([
      { custom_id: 'a', response: { status_code: 200 } },
    ]);
  });
});

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
    expect(linesOf(await (await output('vtx', '77')).text())).toMatchObject([
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
    const rows = linesOf(await (await output('vtx', '77')).text());
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
