/** Files in a cloud's storage belong to the workspace that uploaded them, whatever the credentials behind them may reach. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { mayBeRead } from '../../src/providers/stored-files.ts';
import { callFacts } from '../call-facts.ts';
import { type Plane, savedProvider, startPlane, workspaceKey } from '../gateway-deps.ts';
import { bytes, json, lastCall, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import * as vertex from '../providers/vertex.ts';

let plane: Plane;
let provider: SimulatedProvider;

const keys = { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_region: 'eu-central-1' };
const folder = 'gw/workspace-1/';

beforeAll(async () => {
  plane = startPlane({ settings: { cloudIdentity: 'saved', lentBuckets: new Set(['listed']) } });
  provider = await startProvider(json(200, {}));
  const { url: customHost } = provider;
  const save = (slug: string, kind: string, fields: Record<string, unknown>) =>
    plane.providers.set(slug, savedProvider(slug, { provider: kind, customHost, fields, credential: 'token' }));
  save('aws', 'bedrock', { ...keys, aws_s3_bucket: 'rows' });
  save('none', 'bedrock', keys);
  save('gcp', 'vertex-ai', { ...vertex.settings, vertex_storage_bucket_name: 'rows' });
  save('lent', 'bedrock', { aws_auth_type: 'serviceRole', aws_region: 'eu-central-1', aws_s3_bucket: 'rows' });
});
afterAll(async () => {
  expect(plane.faults).toEqual([]);
  await plane.stop();
  await provider.stop();
});
beforeEach(() => {
  provider.calls.length = 0;
  provider.script(json(200, {}));
});

const ask = async (slug: string, path: string, init: RequestInit = {}, headers: Record<string, string> = {}) => {
  const response = await fetch(plane.url + path, {
    ...init,
    headers: { 'x-gw-api-key': workspaceKey, 'x-gw-provider': `@${slug}`, ...headers },
  });
  const body = JSON.parse((await response.text()) || '{}');
  return { status: response.status, code: body.error?.code ?? null, body };
};

const foreign = (scheme: string) =>
  [
    `${scheme}://any-bucket/any/key`,
    `${scheme}://rows/any/key`,
    `${scheme}://rows/gw/workspace-2/x/rows.jsonl`,
    `${scheme}://rows/${folder}../workspace-2/rows.jsonl`,
    `${scheme}://other/${folder}rows.jsonl`,
  ].map(encodeURIComponent);

for (const [slug, scheme] of [
  ['aws', 's3'],
  ['gcp', 'gs'],
  ['none', 's3'],
] as const) {
  test(`a key that may call models reads no object that its workspace did not write (@${slug})`, async () => {
    for (const id of foreign(scheme)) {
      for (const path of [
        `/v1/files/${id}`,
        `/v1/files/${id}/content`,
        `/v1/files/${encodeURIComponent(id)}/content`,
      ]) {
        expect({ path, ...(await ask(slug, path)), body: null }).toMatchObject({ status: 404, code: 'file_not_found' });
      }
    }
    expect(provider.calls).toEqual([]);
  });

  test(`a batch and a fine-tuning job take nothing of others either (@${slug})`, async () => {
    const own = encodeURIComponent(`${scheme}://rows/${folder}a/rows.jsonl`);
    const post = (path: string, body: object) =>
      ask(slug, path, { method: 'POST', body: JSON.stringify(body) }, { 'content-type': 'application/json' });
    const batch = { model: 'gemini-2.5-flash', role_arn: 'arn:aws:iam::1:role/x', endpoint: '/v1/chat/completions' };
    for (const id of foreign(scheme)) {
      expect((await post('/v1/batches', { ...batch, input_file_id: id })).status).toBe(404);
      expect((await post('/v1/batches', { ...batch, input_file_id: own, output_data_config: id })).status).toBe(404);
      const job = { model: 'gemini-2.5-flash', role_arn: 'r', training_file: id };
      expect((await post('/v1/fine_tuning/jobs', job)).status).toBe(404);
    }
    expect(provider.calls).toEqual([]);
  });
}

const upload = (slug: string, headers: Record<string, string> = {}) => {
  const body = new FormData();
  body.append('purpose', 'assistants');
  body.append('file', new File(['content'], '../rows.jsonl'));
  return ask(slug, '/v1/files', { method: 'POST', body }, headers);
};

test('two uploads of one name are two files, below the folder of the workspace', async () => {
  const ids = [await upload('aws'), await upload('aws'), await upload('gcp')].map(({ body }) => body.id as string);
  expect(new Set(ids).size).toBe(3);
  for (const id of ids) {
    expect(decodeURIComponent(id)).toMatch(/^(?:s3|gs):\/\/rows\/gw\/workspace-1\/[0-9a-f]+\/rows\.jsonl$/);
  }
  const [id = ''] = ids;
  provider.script(bytes(200, '', { 'content-length': '7' }));
  expect((await ask('aws', `/v1/files/${id}`)).status).toBe(200);
  expect(lastCall(provider).path).toBe(`/v1/rows/${decodeURIComponent(id).slice('s3://rows/'.length)}`);
});

test('a config that comes with the request chooses no other bucket', async () => {
  const config = JSON.stringify({ provider: '@aws', aws_s3_bucket: 'any-bucket' });
  const named = { 'x-gw-provider': '', 'x-gw-config': config };
  expect(await upload('aws', named)).toMatchObject({ status: 400 });
  const id = encodeURIComponent(`s3://any-bucket/${folder}rows.jsonl`);
  expect((await ask('aws', `/v1/files/${id}/content`, {}, named)).status).toBe(404);
  expect(provider.calls).toEqual([]);
});

test('jobs of another workspace that shares the account are not shown, not stopped and not read', async () => {
  const job = (input: string, id: string) => ({
    jobArn: `arn:aws:bedrock:eu-central-1:1:model-invocation-job/${id}`,
    modelId: 'm',
    status: 'Completed',
    inputDataConfig: { s3InputDataConfig: { s3Uri: `s3://rows/${input}` } },
    outputDataConfig: { s3OutputDataConfig: { s3Uri: `s3://rows/${input}` } },
  });
  const theirs = job('gw/workspace-2/x/rows.jsonl', 'theirs');
  provider.script(json(200, theirs));
  for (const path of ['/v1/batches/theirs', '/v1/batches/theirs/output']) {
    expect((await ask('aws', path)).status).toBe(404);
  }
  expect((await ask('aws', '/v1/batches/theirs/cancel', { method: 'POST' })).status).toBe(404);
  expect(provider.calls.filter(({ method }) => method !== 'GET')).toEqual([]);
  provider.script(json(200, { invocationJobSummaries: [theirs, job(`${folder}x/rows.jsonl`, 'ours')] }));
  const { body } = await ask('aws', '/v1/batches');
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual(['ours']);
});

test("the gateway's own identity keeps no files in a bucket that the operator has not listed", async () => {
  expect(await upload('lent')).toMatchObject({ status: 400, body: { error: { field: 'file' } } });
  const id = encodeURIComponent(`s3://rows/${folder}rows.jsonl`);
  expect((await ask('lent', `/v1/files/${id}/content`)).status).toBe(404);
  expect(provider.calls).toEqual([]);
});

test('a model is shown no object of S3 that its caller could not read', async () => {
  const url = 's3://any-bucket/any/picture.png';
  const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
  const body = JSON.stringify({ model: 'amazon.nova-lite-v1:0', messages });
  const json = { 'content-type': 'application/json' };
  expect((await ask('aws', '/v1/chat/completions', { method: 'POST', body }, json)).code).toBe('file_not_found');
  expect(provider.calls).toEqual([]);
});

test('a message names no object that another workspace keeps, also where the credential could read it', async () => {
  const chat = (url: string) =>
    ask(
      'gcp',
      '/v1/chat/completions',
      {
        method: 'POST',
        body: JSON.stringify({
          model: 'gemini-2.5-flash',
          messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url, mime_type: 'image/png' } }] }],
        }),
      },
      { 'content-type': 'application/json' },
    );
  for (const url of [
    'gs://rows/gw/workspace-2/x/a.png',
    'GS://rows/gw/workspace-2/x/a.png',
    `gs://rows/${folder}../workspace-2/a.png`,
  ]) {
    expect((await chat(url)).status).toBe(404);
  }
  expect(provider.calls).toEqual([]);
  for (const url of [`gs://rows/${folder}x/a.png`, 'gs://company-pictures/a.png']) {
    await chat(url);
    expect(lastCall(provider).body.toString()).toContain(url);
  }
});

test('the gateway’s own identity reads for a model only what is the caller’s', () => {
  const facts = (lent: boolean) =>
    callFacts({ storage: () => ({ folder, lent, allows: (named) => named === 'listed' }) });
  expect(mayBeRead('gs://company-pictures/a.png', facts(true))).toBe(false);
  expect(mayBeRead(`gs://listed/${folder}a.png`, facts(true))).toBe(true);
  expect(mayBeRead('gs://company-pictures/a.png', facts(false))).toBe(true);
  expect(mayBeRead('gs://listed/gw/workspace-2/a.png', facts(false))).toBe(false);
});

test('a list of fine-tuning jobs shows those that were trained with files of the workspace', async () => {
  const arn = (name: string) => `arn:aws:bedrock:eu-central-1:1:model-customization-job/${name}`;
  const job = (name: string, s3Uri: string) => ({
    jobArn: arn(name),
    status: 'Completed',
    trainingDataConfig: { s3Uri },
  });
  const jobs = [job('own', `s3://rows/${folder}x/a.jsonl`), job('other', 's3://rows/gw/workspace-2/x/a.jsonl')];
  provider.script((call, response) => {
    const asked = jobs.find(({ jobArn }) => decodeURIComponent(call.path).includes(`/${jobArn}`));
    const summaries = jobs.map(({ jobArn, status }) => ({ jobArn, status }));
    return json(200, asked ?? { modelCustomizationJobSummaries: summaries })(call, response);
  });
  const { status, body } = await ask('aws', '/v1/fine_tuning/jobs');
  expect(status).toBe(200);
  expect(body.data.map(({ id }: { id: string }) => decodeURIComponent(id))).toEqual([arn('own')]);
});

const proxied = (slug: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
  ask(
    slug,
    `/v1/proxy${path}`,
    { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) },
    { 'content-type': 'application/json', ...headers },
  );
const gemini = '/projects/p/locations/l/publishers/google/models/gemini-2.5-flash:generateContent';
const picture = (fileUri: string) => ({ contents: [{ role: 'user', parts: [{ fileData: { fileUri } }] }] });

test('what passes through names no object that another workspace keeps, however it is written', async () => {
  const other = 'gs://rows/gw/workspace-2/x/a.png';
  const own = `gs://rows/${folder}x/a.png`;
  const twice = JSON.stringify(picture(own)).replace('"fileUri"', `"fileUri":"${other}","fileUri"`);
  const escaped = JSON.stringify(picture(other)).replace('gs:/', '\\u0067s:\\/');
  for (const body of [picture(other), picture(other.replace('gs:', 'GS:')), twice, escaped]) {
    expect(await proxied('gcp', gemini, body)).toMatchObject({ status: 403, code: 'provider_not_allowed' });
  }
  const text = { 'content-type': 'text/plain' };
  expect((await proxied('gcp', gemini, picture(other), text)).status).toBe(400);
  expect((await proxied('aws', '/model/m/converse', { s3Location: { uri: other.replace('gs', 's3') } })).status).toBe(
    403,
  );
  expect(provider.calls).toEqual([]);
  for (const uri of [own, 'gs://company-pictures/a.png']) {
    expect((await proxied('gcp', gemini, picture(uri))).status).toBe(200);
  }
});

test('the gateway’s own identity is lent to what passes through for calls of models alone, and for objects of the caller’s', async () => {
  const { url: customHost } = provider;
  for (const [slug, bucket] of [
    ['own-listed', 'listed'],
    ['own-rows', 'rows'],
  ] as const) {
    const fields = { aws_auth_type: 'serviceRole', aws_region: 'eu-central-1', aws_s3_bucket: bucket };
    plane.providers.set(slug, savedProvider(slug, { provider: 'bedrock', customHost, fields, credential: null }));
  }
  const named = (uri: string) => ({ messages: [{ content: [{ image: { source: { s3Location: { uri } } } }] }] });
  const own = `s3://listed/${folder}x/a.png`;
  const refused = { status: 403, code: 'provider_not_allowed' };
  const converse = '/model/m/converse';
  expect(await proxied('own-listed', converse, named('s3://company-pictures/a.png'))).toMatchObject(refused);
  expect(await proxied('own-listed', converse, named('s3://listed/gw/workspace-2/a.png'))).toMatchObject(refused);
  expect(await proxied('own-rows', converse, named(`s3://rows/${folder}x/a.png`))).toMatchObject(refused);
  expect(await proxied('own-listed', '/model-invocation-job', named(own))).toMatchObject(refused);
  expect(await ask('own-listed', '/v1/proxy/model-invocation-jobs')).toMatchObject(refused);
  expect(provider.calls).toEqual([]);
  // What may be asked goes on to the credentials, of which this machine has none.
  expect((await proxied('own-listed', converse, named(own))).code).not.toBe('provider_not_allowed');
});

test('jobs that workspaces with the same credential share do not pass through, in any spelling', async () => {
  const jobs = [
    ['aws', '/model-invocation-jobs'],
    ['aws', '/Model-Invocation-Job/abc'],
    ['aws', '/model-customization-jobs/abc/stop'],
    ['aws', '/async-invoke'],
    ['gcp', '/projects/p/locations/l/batchPredictionJobs'],
    ['gcp', '/projects/p/locations/l/batchPredictionJobs/1:cancel'],
    ['gcp', '/projects/p/locations/l/tuningJobs?pageSize=5'],
    ['gcp', '/projects/p/locations/l/TuningJobs/1'],
    ['gcp', '/projects/p/locations/l/cachedContents'],
  ] as const;
  for (const [slug, path] of jobs) {
    const answer = await ask(slug, `/v1/proxy${path}`);
    expect([path, answer.status, answer.code]).toEqual([path, 403, 'provider_not_allowed']);
  }
  expect(await ask('gcp', '/v1/proxy/projects/p/locations/l/%74uningJobs')).toMatchObject({
    status: expect.any(Number),
  });
  expect(provider.calls.filter(({ path }) => /jobs|async|cached/i.test(decodeURIComponent(path)))).toEqual([]);
  expect((await ask('gcp', '/v1/proxy/projects/p/locations/l/cachedContents/own')).status).toBe(200);
});
