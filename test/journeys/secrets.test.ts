/** Canaries: secrets planted in every place that takes one are found in no reply, no log record and no file of the data folder. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as openai from '../providers/openai.ts';
import { json, reset, type SimulatedProvider, startProvider, stream } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

/** Plain enough that no serialiser changes it, and unlike anything else. */
const canary = (name: string) => `canary-${name}-${randomBytes(12).toString('hex')}`;

const secrets = {
  integration: canary('integration'),
  customHeader: canary('custom-header'),
  inlineKey: canary('inline-key'),
  inlineField: canary('inline-field'),
  bearer: canary('bearer'),
  apiKeyHeader: canary('x-api-key'),
  cloudHeader: canary('aws-secret'),
  savedConfigKey: canary('saved-config'),
  cookie: canary('cookie'),
};

let provider: SimulatedProvider;
let world: World;
let workspaceKey: string;
const replies: string[] = [];

beforeAll(async () => {
  provider = await startProvider(openai.says('Hello'));
  world = await startWorld({});
  workspaceKey = world.gateway.workspaceKey;
  await world.saveProvider('a', 'openai', provider, {
    key: secrets.integration,
    configurations: { custom_host: provider.url, custom_headers: { 'x-vendor-pass': secrets.customHeader } },
  });
  await world.gateway.put('/v1/admin/organisation/settings', {
    data_plane_security_settings: { block_inline_config: false },
  });
});
afterAll(async () => {
  await world.stop();
  await provider.stop();
});

type Fields = Record<string, string>;

const question = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] };

/** Calls, keeps all that came back, and waits for the log. An answer that the provider cuts off is cut off for the client too. */
const call = async (headers: Fields, path = '/v1/chat/completions', body: object = question): Promise<number> => {
  const traceId = Bun.randomUUIDv7();
  const response = await world.call(path, body, { 'x-gw-trace-id': traceId, ...headers }).catch(() => null);
  if (response) replies.push(JSON.stringify([...response.headers]), await response.text().catch(() => ''));
  // Whose request it was is not known where the key is not.
  if (response?.status !== 401) await world.records(traceId, 1);
  return response?.status ?? 0;
};

const filesUnder = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesUnder(path) : [path];
  });

/** The names of the secrets that stand in this text. */
const foundIn = (text: string | Buffer): string[] =>
  Object.entries({ ...secrets, workspaceKey }).flatMap(([name, secret]) => (text.includes(secret) ? [name] : []));

test('the provider gets what is meant for it', async () => {
  expect(await call({ 'x-gw-provider': '@a' })).toBe(200);
  expect(provider.calls[0]?.headers).toMatchObject({
    authorization: `Bearer ${secrets.integration}`,
    'x-vendor-pass': secrets.customHeader,
  });
});

test('calls of every kind are made with the secrets in every place', async () => {
  const inline = {
    provider: 'openai',
    api_key: secrets.inlineKey,
    custom_host: provider.url,
    override_params: { temperature: 0 },
    aws_secret_access_key: secrets.inlineField,
  };
  const saved = await world.saveConfig({
    provider: 'openai',
    api_key: secrets.savedConfigKey,
    custom_host: provider.url,
  });
  const direct = { 'x-gw-provider': 'openai', 'x-gw-custom-host': provider.url };
  const everywhere = { authorization: `Bearer ${workspaceKey}`, 'x-api-key': workspaceKey, 'x-my-login': workspaceKey };
  const variants: Fields[] = [
    { 'x-gw-provider': '@a', cookie: `session=${secrets.cookie}` },
    { 'x-gw-config': JSON.stringify(inline) },
    { 'x-gw-config': saved },
    { ...direct, authorization: `Bearer ${secrets.bearer}` },
    { ...direct, 'x-api-key': secrets.apiKeyHeader },
    { 'x-gw-provider': '@a', 'x-gw-aws-secret-access-key': secrets.cloudHeader, ...everywhere },
    { 'x-gw-provider': '@a', 'x-gw-forward-headers': 'authorization', authorization: `Bearer ${secrets.bearer}` },
  ];
  const ways = [
    () => openai.says('Hello'),
    () =>
      json(401, {
        error: { message: 'Incorrect API key provided', type: 'invalid_request_error', code: 'invalid_api_key' },
      }),
    () => openai.serverError,
    () => reset,
    () => stream([openai.opening, openai.part('Half')], 'cut'),
  ];
  for (const headers of variants) {
    for (const way of ways) {
      provider.script(way());
      await call(headers, '/v1/chat/completions', { ...question, temperature: 1, stream: way === ways[4] });
      provider.script(way());
      await call(headers, '/v1/proxy/chat/completions');
    }
  }
  expect(provider.calls.length).toBeGreaterThan(60);
});

test('refusals are made to speak of the secrets, and do not', async () => {
  await call({ 'x-gw-config': JSON.stringify({ provider: 'openai', api_key: [secrets.inlineKey] }) });
  await call({ 'x-gw-config': `{"api_key":"${secrets.inlineKey}",}` });
  await call({
    'x-gw-config': JSON.stringify({ api_key: secrets.inlineKey, strategy: { mode: secrets.inlineField } }),
  });
  await call({ 'x-gw-api-key': secrets.bearer });
  await call({ 'x-gw-provider': '@a', 'x-gw-custom-host': `http://user:${secrets.bearer}@127.0.0.1/` });
});

test('no reply holds one', () => {
  expect(replies.flatMap(foundIn)).toEqual([]);
});

test('no log record holds one, as it is written and as it is shown', async () => {
  const { gateway } = world;
  expect(gateway.records.length).toBeGreaterThan(60);
  for (const record of gateway.records) {
    const { request, transformedRequest, response } = record.bodies;
    const bodies = [request, transformedRequest, response].map((message) => [
      message?.headers,
      message?.body?.toString(),
    ]);
    expect(foundIn(JSON.stringify([record.metrics, bodies]))).toEqual([]);
    const shown = await gateway.get(`/v1/logs/${record.metrics.id}`);
    expect([shown.status, foundIn(JSON.stringify(shown.body))]).toEqual([200, []]);
  }
});

test('the control plane shows none', async () => {
  for (const path of [
    '/v1/integrations',
    '/v1/integrations/a',
    '/v1/providers',
    '/v1/configs',
    '/v1/api-keys',
    '/v1/audit-logs',
  ]) {
    const { body } = await world.gateway.get(path);
    expect([path, foundIn(JSON.stringify(body))]).toEqual([path, []]);
  }
});

test('no file of the data folder holds one, and the program logged no fault', async () => {
  const { app, dataDir, faults } = world.gateway;
  expect(faults).toEqual([]);
  await app.stop();
  const files = filesUnder(dataDir);
  expect(files.some((file) => file.endsWith('state.db'))).toBe(true);
  // The log store's thread takes its working files away as it ends.
  const kept = files.filter((file) => !/-(shm|wal)$/.test(file));
  expect(kept.flatMap((file) => foundIn(readFileSync(file)).map((secret) => `${secret} in ${file}`))).toEqual([]);
});
