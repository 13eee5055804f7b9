/** Files and batches of Google AI Studio, behind OpenAI's SDK. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { type OpenAI, toFile } from 'openai';
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
import { studio } from '../providers/gemini.ts';
import { type Behaviour, bytes, json, lastCall, type SimulatedProvider } from '../providers/simulated.ts';
import type { World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;
let gem: OpenAI;
let output: GoogleWorld['output'];

beforeAll(async () => {
  const google = await startGoogle('gem', (to, simulated) => to.saveProvider('gem', 'google', simulated));
  ({ provider, world, client: gem, output } = google);
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);

const received = () => lastCall(provider);
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
    expect((await output('b1')).status).toBe(409);
    const lines = [
      { key: 'a', response: answered },
      { key: 'b', error: { code: 3, message: 'Too long.', status: 'INVALID_ARGUMENT' } },
    ];
    provider.script(
      studio(json(200, operation('SUCCEEDED', { response: { responsesFile: 'files/batch-b1' } }))),
      studio(bytes(200, lines.map((line) => JSON.stringify(line)).join('\n'), { 'content-type': 'application/jsonl' })),
    );
    const rows = linesOf(await (await output('b1')).text());
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
    expect(linesOf(await (await output('b1')).text())).toMatchObject([
      { custom_id: 'a', response: { status_code: 200 } },
    ]);
  });
});
