/** Batches, fine-tuning and files of Bedrock with OpenAI's own SDK in front: jobs at Bedrock, objects in S3, each signed for its service. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type OpenAI from 'openai';
import { bedrock } from '../../src/providers/bedrock/bedrock.ts';
import type { ProviderEndpoint, SentFile } from '../../src/providers/provider.ts';
import { callFacts } from '../call-facts.ts';
import { openaiClient } from '../clients.ts';
import type { Json } from '../harness.ts';
import { sharedByTests } from '../journey.ts';
import * as claude from '../providers/anthropic.ts';
import { keySettings, keys, known, region, startBedrock } from '../providers/bedrock.ts';
import { type Behaviour, bytes, json, type SimulatedProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

const model = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
const jobArn = `arn:aws:bedrock:${region}:123456789012:model-invocation-job/abc123def456`;
const tuningArn = `arn:aws:bedrock:${region}:123456789012:model-customization-job/amazon.nova-lite-v1:0/xyz`;
const roleArn = 'arn:aws:iam::123456789012:role/batches';

/** The part of the bucket that is the workspace's. */
let folder: string;
const own = (name: string): string => `s3://bucket/${folder}${name}`;

const invocationJob = (status: string) => ({
  jobArn,
  jobName: 'nightly',
  modelId: model,
  status,
  submitTime: '2026-01-01T00:00:00Z',
  lastModifiedTime: '2026-01-01T01:00:00Z',
  endTime: '2026-01-01T01:00:00Z',
  inputDataConfig: { s3InputDataConfig: { s3Uri: own('in/rows.jsonl'), s3InputFormat: 'JSONL' } },
  outputDataConfig: { s3OutputDataConfig: { s3Uri: own('out/') } },
});

const tuningJob = (status: string) => ({
  jobArn: tuningArn,
  jobName: 'tune',
  baseModelArn: `arn:aws:bedrock:${region}::foundation-model/amazon.nova-lite-v1:0`,
  status,
  creationTime: '2026-01-01T00:00:00Z',
  hyperParameters: { epochCount: '2' },
  trainingDataConfig: { s3Uri: own('train.jsonl') },
});

let provider: SimulatedProvider;
let world: World;
let client: OpenAI;
let status: string;

/** Jobs at Bedrock, and one object in S3. */
const service: Behaviour = (call, response) => {
  const [path = ''] = call.path.split('?');
  if (path.startsWith('/bucket/')) {
    const output = [
      { recordId: 'a', modelInput: {}, modelOutput: claude.message([{ type: 'text', text: 'Hello' }]) },
      { recordId: 'b', modelInput: {}, error: { errorCode: 400, errorMessage: 'Too long' } },
    ];
    const content = output.map((row) => `${JSON.stringify(row)}\n`).join('');
    const head = { 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT', 'content-type': 'binary/octet-stream' };
    return known(
      bytes(200, content, { ...head, 'content-length': String(content.length) }),
      keys,
      's3',
    )(call, response);
  }
  const answers: Record<string, Json> = {
    'POST /model-invocation-job': { jobArn },
    'GET /model-invocation-job/abc123def456': invocationJob(status),
    'POST /model-invocation-job/abc123def456/stop': {},
    'GET /model-invocation-jobs': { invocationJobSummaries: [invocationJob('Scheduled')] },
    'POST /model-customization-jobs': { jobArn: tuningArn },
    [`GET /model-customization-jobs/${encodeURIComponent(tuningArn)}`]: tuningJob(status),
    [`POST /model-customization-jobs/${encodeURIComponent(tuningArn)}/stop`]: {},
    'GET /model-customization-jobs': { modelCustomizationJobSummaries: [tuningJob('Completed')] },
  };
  const answer = answers[`${call.method} ${path}`];
  return known(answer ? json(200, answer) : json(404, { message: `nothing at ${path}` }))(call, response);
};

beforeAll(async () => {
  provider = await startBedrock(service);
  world = await startWorld({});
  await world.saveProvider('aws', 'bedrock', provider, {
    configurations: { ...keySettings, custom_host: provider.url, aws_s3_bucket: 'bucket' },
  });
  const { body } = await world.gateway.get('/v1/workspaces');
  folder = `gw/${body.data[0].id}/`;
  client = openaiClient(world, { 'x-gw-provider': '@aws' });
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);
beforeEach(() => {
  status = 'InProgress';
});

describe('a batch', () => {
  const fileId = () => encodeURIComponent(own('in/rows.jsonl'));
  const create = (): Json => ({
    input_file_id: fileId(),
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    model,
    role_arn: roleArn,
    job_name: 'nightly',
    output_data_config: own('out/'),
  });

  test('is a job from one object to another', async () => {
    const batch = await client.batches.create(create());
    expect(batch as Json).toMatchObject({
      id: 'abc123def456',
      object: 'batch',
      status: 'in_progress',
      input_file_id: fileId(),
      output_file_id: null,
      endpoint: '/v1/chat/completions',
    });
    expect(provider.calls[0]?.json).toEqual({
      jobName: 'nightly',
      modelId: model,
      roleArn,
      inputDataConfig: { s3InputDataConfig: { s3Uri: own('in/rows.jsonl'), s3InputFormat: 'JSONL' } },
      outputDataConfig: { s3OutputDataConfig: { s3Uri: own('out/') } },
    });
  });

  test('needs a role, and says so', async () => {
    const { role_arn: _, ...without } = create();
    const fault = await client.batches.create(without).catch((error) => error);
    expect([fault.status, fault.error.field, provider.calls.length]).toEqual([400, 'role_arn', 0]);
  });

  test('is looked at, cancelled and listed with the states of OpenAI’s', async () => {
    const words: Record<string, string> = {
      Submitted: 'validating',
      Validating: 'validating',
      Scheduled: 'validating',
      InProgress: 'in_progress',
      Completed: 'completed',
      PartiallyCompleted: 'completed',
      Failed: 'failed',
      Stopping: 'cancelling',
      Stopped: 'cancelled',
      Expired: 'expired',
    };
    for (const [own, word] of Object.entries(words)) {
      status = own;
      expect((await client.batches.retrieve('abc123def456')).status as string).toBe(word);
    }
    status = 'Stopping';
    expect((await client.batches.cancel('abc123def456')).status).toBe('cancelling');
    const list = await client.batches.list({ limit: 5 });
    expect(list.data.map(({ id, status: word }) => [id, word])).toEqual([['abc123def456', 'validating']]);
  });

  test('is found on whichever page of the service’s it stands', async () => {
    const page = (id: string, more: object = {}) =>
      json(200, { invocationJobSummaries: [{ ...invocationJob('Completed'), jobArn: `job/${id}` }], ...more });
    provider.script(
      known((call, response) =>
        (call.path.includes('&nextToken=p2') ? page('second') : page('first', { nextToken: 'p2' }))(call, response),
      ),
    );
    const list = await client.batches.list({ limit: 5 });
    provider.script(service);
    expect(list.data.map(({ id }) => id)).toEqual(['first', 'second']);
  });

  test('has an output in rows of OpenAI’s once it is complete', async () => {
    const output = () =>
      fetch(`${world.gateway.url}/v1/batches/abc123def456/output`, {
        headers: { 'x-gw-api-key': world.gateway.workspaceKey, 'x-gw-provider': '@aws' },
      });
    expect((await output()).status).toBe(409);
    status = 'Completed';
    const rows = (await (await output()).text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows).toMatchObject([
      {
        custom_id: 'a',
        response: {
          status_code: 200,
          body: { object: 'chat.completion', choices: [{ message: { content: 'Hello' } }] },
        },
        error: null,
      },
      { custom_id: 'b', response: null, error: { code: '400', message: 'Too long' } },
    ]);
    expect(provider.calls.at(-1)?.path).toBe(`/bucket/${folder}out/abc123def456/rows.jsonl.out`);
  });
});

describe('a file', () => {
  test('is an object of S3, told of and read by its address', async () => {
    const id = encodeURIComponent(own('out/rows (1).jsonl'));
    const file = await client.files.retrieve(id);
    expect(file as Json).toMatchObject({ id, object: 'file', filename: 'rows (1).jsonl', created_at: 1_767_225_600 });
    expect([provider.calls[0]?.method, provider.calls[0]?.path]).toEqual([
      'HEAD',
      `/bucket/${folder}out/rows%20%281%29.jsonl`,
    ]);
    const content = await client.files.content(id);
    expect((await content.text()).split('\n')).toHaveLength(3);
  });

  test('elsewhere than in S3 is refused', async () => {
    const fault = await client.files.retrieve('file-123').catch((error) => error);
    expect([fault.status, fault.error.field]).toEqual([400, 'file_id']);
  });

  const endpoint = bedrock.endpoints.uploadFile as ProviderEndpoint;
  const upload = (rows: readonly Json[], fields: Json = {}) => {
    const file: SentFile = {
      filename: 'rows.jsonl',
      contentType: 'application/jsonl',
      bytes: Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n')),
    };
    const facts = callFacts({
      provider: 'bedrock',
      kind: 'uploadFile',
      model: '',
      body: { purpose: 'batch' },
      files: new Map([['file', file]]),
      fields: { ...keySettings, aws_s3_bucket: 'bucket', aws_server_side_encryption: 'AES256', ...fields },
    });
    const steps = endpoint.steps?.(facts, {});
    const asked = steps?.next([]);
    const [call] = asked && !asked.done && 'calls' in asked.value ? asked.value.calls : [];
    return { call: call as Json, answer: steps?.next([])?.value as Json };
  };
  const row = (body: Json, url = '/v1/chat/completions') => ({ custom_id: 'a', method: 'POST', url, body });
  const messages = [{ role: 'user', content: 'Hi' }];

  test('of rows is written anew for the model, and stored under its key', () => {
    const { call, answer } = upload([row({ model, messages, max_tokens: 5 })]);
    expect([call.method, call.path]).toEqual(['PUT', `https://s3.${region}.amazonaws.com/bucket/rows.jsonl`]);
    expect(call.authentication).toMatchObject({ kind: 'aws', service: 's3', region });
    expect(call.headers).toEqual({ 'x-amz-server-side-encryption': 'AES256' });
    expect(JSON.parse(Buffer.from(call.body.bytes).toString())).toEqual({
      recordId: 'a',
      modelInput: {
        anthropic_version: 'bedrock-2023-05-31',
        max_tokens: 5,
        messages: [{ role: 'user', content: 'Hi' }],
      },
    });
    expect(answer).toMatchObject({
      id: encodeURIComponent('s3://bucket/rows.jsonl'),
      object: 'file',
      purpose: 'batch',
    });
  });

  test('of rows for Nova, for models that speak OpenAI’s dialect, and of embeddings', () => {
    const inputFor = (body: Json, url?: string) =>
      JSON.parse(Buffer.from(upload([row(body, url)]).call.body.bytes).toString()).modelInput;
    expect(inputFor({ model: 'amazon.nova-lite-v1:0', messages, max_tokens: 5, top_k: 3 })).toEqual({
      schemaVersion: 'messages-v1',
      messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
      inferenceConfig: { maxTokens: 5, topK: 3 },
    });
    expect(inputFor({ model: 'openai.gpt-oss-20b-1:0', messages })).toEqual({ messages });
    expect(inputFor({ model: 'amazon.titan-embed-text-v2:0', input: 'Hi' }, '/v1/embeddings')).toEqual({
      inputText: 'Hi',
    });
  });

  test('with a line that is no row is refused by its number', () => {
    expect(() => upload([row({ model, messages }), { nothing: true }])).toThrow('line 2');
    expect(() => upload([row({ model: 'meta.llama3-8b-instruct-v1:0', messages })])).toThrow('is not known');
  });
});

describe('a fine-tuning job', () => {
  const create = (): Json => ({
    model: 'amazon.nova-lite-v1:0',
    training_file: encodeURIComponent(own('train.jsonl')),
    validation_file: encodeURIComponent(own('check.jsonl')),
    method: { type: 'supervised', supervised: { hyperparameters: { n_epochs: 2, batch_size: 'auto' } } },
    suffix: 'mine',
    role_arn: roleArn,
    job_name: 'tune',
  });

  test('is a customization job', async () => {
    const job = await client.fineTuning.jobs.create(create());
    expect(job as Json).toMatchObject({
      id: encodeURIComponent(tuningArn),
      object: 'fine_tuning.job',
      status: 'running',
      model: 'amazon.nova-lite-v1:0',
      training_file: create().training_file,
      hyperparameters: { n_epochs: 2 },
    });
    expect(provider.calls[0]?.json).toEqual({
      baseModelIdentifier: 'amazon.nova-lite-v1:0',
      customizationType: 'FINE_TUNING',
      jobName: 'tune',
      customModelName: 'mine',
      roleArn,
      trainingDataConfig: { s3Uri: own('train.jsonl') },
      validationDataConfig: { validators: [{ s3Uri: own('check.jsonl') }] },
      outputDataConfig: { s3Uri: own('') },
      hyperParameters: { epochCount: '2' },
    });
  });

  test('is looked at, listed and cancelled', async () => {
    const id = encodeURIComponent(tuningArn);
    status = 'Completed';
    expect((await client.fineTuning.jobs.retrieve(id)).status).toBe('succeeded');
    expect((await client.fineTuning.jobs.list()).data.map((job) => job.status)).toEqual(['succeeded']);
    status = 'Stopped';
    expect((await client.fineTuning.jobs.cancel(id)).status).toBe('cancelled');
  });
});
