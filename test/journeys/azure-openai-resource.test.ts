/** Azure OpenAI beside chat: files, batches, fine-tuning and responses of the resource, who may ask it, and realtime sessions. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { toFile } from 'openai';
import { messages, simulated, startAzure, version } from '../azure-world.ts';
import { anthropicClient, openaiClient } from '../clients.ts';
import { sharedByTests } from '../journey.ts';
import * as api from '../providers/openai-api.ts';
import { startRealtime } from '../providers/realtime.ts';
import { responds } from '../providers/responses-api.ts';
import { lastCall, type SimulatedProvider } from '../providers/simulated.ts';
import { RealtimeClient } from '../realtime-client.ts';
import type { World } from '../world.ts';

let resource: SimulatedProvider;
let host: string;
let world: World;

beforeAll(async () => {
  ({ resource, host, world } = await startAzure());
});
sharedByTests(
  () => world.gateway,
  () => [resource],
);
beforeEach(() => {
  resource.script(simulated);
});

const received = () => lastCall(resource);

describe('the resource', () => {
  const client = () => openaiClient(world, { 'x-gw-provider': '@azure' });
  const dated = (path: string) => `/openai${path}?api-version=${version}`;

  test('keeps files', async () => {
    await client().files.create({ file: await toFile(Buffer.from('{}'), 'rows.jsonl'), purpose: 'batch' });
    expect(received()).toMatchObject({ method: 'POST', path: dated('/files') });
    expect((await client().files.retrieve('file-1')).id).toBe('file-1');
    expect(received().path).toBe(dated('/files/file-1'));
    const content = await client().files.content('file-1');
    expect(Buffer.from(await content.arrayBuffer())).toEqual(api.fileContent);
    await client().files.list({ limit: 2 });
    expect(received().path).toBe(`${dated('/files')}&limit=2`);
    expect((await client().files.delete('file-1')).deleted).toBe(true);
  });

  test('runs batches, and their output is read from their file', async () => {
    const asked = {
      input_file_id: 'file-1',
      endpoint: '/v1/chat/completions' as const,
      completion_window: '24h' as const,
    };
    await client().batches.create(asked);
    expect(received()).toMatchObject({ path: dated('/batches'), json: asked });
    expect((await client().batches.cancel('batch_1')).status).toBe('cancelling');
    const output = await world.call(
      '/v1/batches/batch_1/output',
      null,
      { 'x-gw-provider': '@azure' },
      { method: 'GET', body: null },
    );
    expect(Buffer.from(await output.arrayBuffer())).toEqual(api.fileContent);
  });

  test("fine-tunes, with hyperparameters in the older place and states in OpenAI's words", async () => {
    const hyperparameters = { n_epochs: 3 };
    const job = await client().fineTuning.jobs.create({
      model: 'gpt-4o-mini',
      training_file: 'file-1',
      method: { type: 'supervised', supervised: { hyperparameters } },
    });
    expect(job.status).toBe('queued');
    expect(received()).toMatchObject({
      path: dated('/fine_tuning/jobs'),
      json: { hyperparameters, training_file: 'file-1' },
    });
    expect(received().json.method).toBeUndefined();
    expect((await client().fineTuning.jobs.list()).data[0]?.status).toBe('queued');
    expect((await client().fineTuning.jobs.cancel('ftjob-1')).status).toBe('cancelled');
  });

  test('answers responses with the deployment as their model', async () => {
    const answer = await openaiClient(world).responses.create({ model: '@azure/gpt-4o-mini', input: 'Hello' });
    expect(answer.id).toBe('resp_1');
    expect(received()).toMatchObject({ path: dated('/responses'), json: { model: 'chat-prod', input: 'Hello' } });
  });

  test('asks for responses where a model has no chat, whatever the client speaks', async () => {
    resource.script(responds({ text: 'Hello there.' }));
    const asked = {
      path: dated('/responses'),
      json: { model: 'deep-prod', input: [{ role: 'user', content: 'Hello' }], store: false },
    };
    const { choices } = await openaiClient(world).chat.completions.create({ model: '@azure/o3-pro', messages });
    expect(choices[0]).toMatchObject({ message: { content: 'Hello there.' }, finish_reason: 'stop' });
    expect(received()).toMatchObject(asked);
    const runner = openaiClient(world).chat.completions.stream({ model: '@azure/o3-pro', messages });
    expect((await runner.finalChatCompletion()).choices[0]?.message.content).toBe('Hello there.');
    const message = await anthropicClient(world).messages.create({ model: '@azure/o3-pro', max_tokens: 9, messages });
    expect(message.content).toMatchObject([{ type: 'text', text: 'Hello there.' }]);
    expect(received()).toMatchObject(asked);
  });
});

describe('who asks', () => {
  const target = (more: object) => ({
    provider: 'azure-openai',
    custom_host: host,
    resource_name: 'res',
    deployment_id: 'chat-prod',
    ...more,
  });
  const ask = async (more: object) => {
    const client = openaiClient(world, { 'x-gw-config': await world.saveConfig(target(more)) });
    return client.chat.completions.create({ model: 'gpt-4o', messages });
  };

  test('a ready token stands over the key and over every mode', async () => {
    await ask({ azure_ad_token: 'entra-token', azure_auth_mode: 'managed', api_key: 'sk-azure-secret' });
    expect(received().headers.authorization).toBe('Bearer entra-token');
    expect(received().headers['api-key']).toBeUndefined();
  });

  test('the older spellings of resource, deployment and version lead to the same place', async () => {
    await ask({ api_key: 'sk-azure-secret', api_version: '2025-04-01-preview' });
    expect(received().path).toBe('/openai/deployments/chat-prod/chat/completions?api-version=2025-04-01-preview');
  });

  test('the identity of the gateway is not lent to a config that only asks for it', async () => {
    await expect(ask({ azure_auth_mode: 'managed' })).rejects.toMatchObject({
      status: 403,
      code: 'provider_not_allowed',
    });
    expect(resource.calls).toHaveLength(0);
  });

  test('a mode that lacks its settings is refused by name', async () => {
    await expect(ask({ azure_auth_mode: 'entra', azure_entra_tenant_id: 't' })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('azure_entra_client_id'),
    });
  });

  test('a wrong key is refused in the words of the resource', async () => {
    await expect(ask({ api_key: 'other' })).rejects.toMatchObject({
      status: 401,
      message: expect.stringContaining('invalid subscription key'),
    });
  });

  test('a resource name cannot lead to another host', async () => {
    const config = { provider: 'azure-openai', api_key: 'k', resource_name: 'evil.example.com/', deployment_id: 'd' };
    const client = openaiClient(world, { 'x-gw-config': await world.saveConfig(config) });
    await expect((async () => client.chat.completions.create({ model: 'gpt-4o', messages }))()).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('azure_resource_name'),
    });
  });
});

test('a realtime session is opened on the deployment, with the key', async () => {
  const realtime = startRealtime();
  const configurations = {
    custom_host: realtime.url.replace(/\/v1$/, '/openai'),
    azure_auth_mode: 'default',
    azure_resource_name: 'res',
    azure_deployment_config: [
      { azure_deployment_name: 'voice', azure_api_version: '2025-04-01-preview', azure_model_slug: 'gpt-realtime' },
      { azure_deployment_name: 'voice-v1', azure_api_version: 'v1', azure_model_slug: 'gpt-realtime-v1' },
    ],
  };
  await world.saveProvider('voices', 'azure-openai', realtime, { configurations });
  const opened = async (model: string) => {
    const opening = realtime.session();
    const address = `${world.gateway.url.replace('http', 'ws')}/v1/realtime?model=@voices/${model}&intent=talk`;
    const client = await RealtimeClient.open(address, { 'x-gw-api-key': world.gateway.workspaceKey });
    const { path, query, headers } = await opening;
    client.socket.close();
    await client.closed;
    return { path, query, key: headers['api-key'] };
  };
  expect(await opened('gpt-realtime')).toEqual({
    path: '/openai/realtime',
    query: '?api-version=2025-04-01-preview&deployment=voice&intent=talk',
    key: 'sk-voices-secret',
  });
  expect(await opened('gpt-realtime-v1')).toEqual({
    path: '/openai/v1/realtime',
    query: '?model=voice-v1&intent=talk',
    key: 'sk-voices-secret',
  });
  await realtime.stop();
});
