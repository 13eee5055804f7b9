/** Batches of the gateway's own in the hands of somebody who means harm: other workspaces' files, lines and headers that are none, deleted inputs, revoked keys, two nodes at once. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { startApp } from '../../src/app.ts';
import { readEnvironment } from '../../src/environment.ts';
import { type Json, onEachEngine, type TestGateway } from '../harness.ts';
import { storeOf } from '../people.ts';
import * as openai from '../providers/openai.ts';
import { type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { newMigratedDatabase, postgresInstalled } from '../servers/postgres.ts';
import { startWorld, type World } from '../world.ts';

const question = { model: '@a/gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] };
const line = (id: string, body: object = question) =>
  JSON.stringify({ custom_id: id, method: 'POST', url: '/v1/chat/completions', body });
const lines = (count: number) => Array.from({ length: count }, (_, index) => line(`row-${index}`)).join('\n');

interface Answer {
  status: number;
  body: Json;
}

const answerOf = async (response: Response): Promise<Answer> => ({
  status: response.status,
  body: await response.json(),
});

async function uploaded({ url }: { url: string }, key: string, content: BlobPart, more: object = {}): Promise<Answer> {
  const form = new FormData();
  for (const [name, value] of Object.entries({ purpose: 'batch', ...more })) form.append(name, value);
  form.append('file', new Blob([content]), 'rows.jsonl');
  return answerOf(await fetch(`${url}/v1/files`, { method: 'POST', headers: { 'x-gw-api-key': key }, body: form }));
}

async function ordered({ url }: { url: string }, key: string, fileId: string, more: object = {}): Promise<Answer> {
  const body = { input_file_id: fileId, endpoint: '/v1/chat/completions', completion_window: '24h', ...more };
  const headers = { 'x-gw-api-key': key, 'content-type': 'application/json' };
  return answerOf(await fetch(`${url}/v1/batches`, { method: 'POST', headers, body: JSON.stringify(body) }));
}

const found = async ({ url }: { url: string }, key: string, path: string): Promise<Answer> =>
  answerOf(await fetch(`${url}/v1${path}`, { headers: { 'x-gw-api-key': key } }));

const tick = ({ app }: Pick<TestGateway, 'app'>) => app.jobs.runOnce('managed-batches');

onEachEngine('batches in hostile hands', (start) => {
  let provider: SimulatedProvider;
  let world: World;
  let gateway: TestGateway;
  let key: string;
  let workspaceId: string;

  beforeAll(async () => {
    provider = await startProvider(openai.says('Answer'));
    world = await startWorld({ a: { provider: 'openai', simulated: provider } }, {}, start);
    // The test says when the job runs: by itself it would run beside it every five seconds.
    await world.gateway.app.jobs.stop();
    gateway = world.gateway;
    key = gateway.workspaceKey;
    workspaceId = (await gateway.get('/v1/workspaces')).body.data[0].id;
  });
  afterAll(async () => {
    await world.stop();
    await provider.stop();
  });
  beforeEach(() => {
    provider.calls.length = 0;
  });
  afterEach(() => {
    expect(gateway.faults).toEqual([]);
  });

  const newKey = async (workspace_id: string): Promise<{ id: string; key: string }> => {
    const fields = { name: 'Another', scopes: ['completions.write'], workspace_id };
    const made = await gateway.post('/v1/api-keys/workspace/service', fields);
    expect(made.status).toBe(200);
    return made.body;
  };

  test('files and batches of another workspace are not found, by any way', async () => {
    const other = await gateway.post('/v1/admin/workspaces', { name: 'Other' });
    expect(other.status).toBe(200);
    const stranger = (await newKey(other.body.id)).key;
    const file = (await uploaded(gateway, key, lines(1))).body.id;
    const batch = (await ordered(gateway, key, file)).body.id;
    expect(await ordered(gateway, stranger, file)).toMatchObject({
      status: 400,
      body: { error: { field: 'input_file_id' } },
    });
    for (const path of [`/files/${file}`, `/files/${file}/content`, `/batches/${batch}`, `/batches/${batch}/output`]) {
      expect(await found(gateway, stranger, path)).toMatchObject({ status: 404 });
    }
    const headers = { 'x-gw-api-key': stranger };
    const removed = await fetch(`${gateway.url}/v1/files/${file}`, { method: 'DELETE', headers });
    const cancelled = await fetch(`${gateway.url}/v1/batches/${batch}/cancel`, { method: 'POST', headers });
    expect([removed.status, cancelled.status]).toEqual([404, 404]);
    expect((await found(gateway, stranger, '/files')).body.data).toEqual([]);
    expect((await found(gateway, stranger, '/batches')).body.data).toEqual([]);
    await tick(gateway);
  });

  describe('a file', () => {
    test('of too many lines is refused', async () => {
      const short = JSON.stringify({ custom_id: 'x', url: '/v1/chat/completions', body: {} });
      const many = await uploaded(gateway, key, `${short}\n`.repeat(50_001));
      expect(many).toMatchObject({ status: 400, body: { error: { field: 'file' } } });
    });

    test('with a line of any length but no end is refused', async () => {
      const huge = await uploaded(gateway, key, `{"custom_id":"${'x'.repeat(33 * 1024 * 1024)}`);
      expect(huge).toMatchObject({ status: 400, body: { error: { field: 'file' } } });
    });

    test('that is not encoded in UTF-8 is refused', async () => {
      const odd = Buffer.concat([Buffer.from(line('a').slice(0, -2)), Buffer.from([0xff, 0xfe, 0xc3, 0x28])]);
      expect(await uploaded(gateway, key, odd)).toMatchObject({ status: 400, body: { error: { field: 'file' } } });
      const cut = Buffer.concat([Buffer.from(`${line('a')}\n`), Buffer.from([0xe2, 0x82])]);
      expect(await uploaded(gateway, key, cut)).toMatchObject({ status: 400, body: { error: { field: 'file' } } });
    });

    test('whose purpose or name no database can keep is refused', async () => {
      const purposes = ['batch\u0000', 'x'.repeat(10_000), "'; drop table managed_files; --"];
      for (const purpose of purposes) {
        const refused = await uploaded(gateway, key, lines(1), { purpose });
        expect(refused).toMatchObject({ status: 400, body: { error: { field: 'purpose' } } });
      }
    });

    test('under an id that is none is not found', async () => {
      for (const id of ['gw_file_%00', 'gw_file_..', "gw_file_'or'1", `gw_file_${'x'.repeat(5_000)}`]) {
        expect(await found(gateway, key, `/files/${id}`)).toMatchObject({ status: 404 });
        expect(await found(gateway, key, `/batches/${id.replace('file', 'batch')}`)).toMatchObject({ status: 404 });
      }
      for (const query of ['after=%00', 'purpose=%00']) {
        expect((await found(gateway, key, `/files?${query}`)).status).toBeLessThan(500);
        expect((await found(gateway, key, `/batches?${query}`)).status).toBeLessThan(500);
      }
      expect((await ordered(gateway, key, 'gw_file_\u0000')).status).toBe(400);
    });
  });

  test('options that are no headers, or that would say who calls, are refused', async () => {
    const file = (await uploaded(gateway, key, lines(1))).body.id;
    const refused = [
      { 'x-gw-api-key': 'another' },
      { 'X-GW-API-KEY': 'another' },
      { x_gw_api_key: 'another' },
      { 'x-acme-api-key': 'another' },
      { authorization: 'Bearer another' },
      { cookie: 'session=1' },
      { 'x-gw-trace-id': 'mine' },
      { 'x-gw-metadata': 'a\r\nx-gw-api-key: another' },
      { 'x-gw-metadata': 'a\u0000' },
      { 'x-gw-metadata': '日本' },
      { 'x-gw-a b': 'c' },
      { 'x-gw-a\r\nb': 'c' },
      { 'x-gw-config': 'x'.repeat(70_000) },
      ['x-gw-provider'],
      'x-gw-provider',
    ];
    for (const gw_options of refused) {
      const answer = await ordered(gateway, key, file, { gw_options });
      expect({ gw_options, status: answer.status, field: answer.body.error?.field }).toEqual({
        gw_options,
        status: 400,
        field: expect.stringContaining('gw_options'),
      });
    }
  });

  test('credentials among the options are kept encrypted', async () => {
    const file = (await uploaded(gateway, key, lines(1))).body.id;
    const gw_options = { 'x-gw-metadata': { who: 'canary-日' } };
    const { status, body } = await ordered(gateway, key, file, { gw_options });
    expect(status).toBe(200);
    const row = await storeOf(gateway)
      .db.selectFrom('managed_batches')
      .selectAll()
      .where('id', '=', body.id)
      .executeTakeFirstOrThrow();
    expect(JSON.stringify(row)).not.toContain('canary');
    await tick(gateway);
    expect((await found(gateway, key, `/batches/${body.id}`)).body).toMatchObject({
      status: 'completed',
      request_counts: { total: 1, completed: 1, failed: 0 },
    });
  });

  test('a batch whose input was deleted fails with what it has, and does not pass for complete', async () => {
    const file = (await uploaded(gateway, key, lines(30))).body.id;
    const batch = (await ordered(gateway, key, file)).body.id;
    await tick(gateway);
    await fetch(`${gateway.url}/v1/files/${file}`, { method: 'DELETE', headers: { 'x-gw-api-key': key } });
    await tick(gateway);
    const { body } = await found(gateway, key, `/batches/${batch}`);
    expect(body).toMatchObject({ status: 'failed', errors: { data: [{ code: 'file_not_found' }] } });
    expect(body.output_file_id).toEqual(expect.any(String));
  });

  test('a key that is revoked in the middle runs no further line, and its results stay', async () => {
    const revoked = await newKey(workspaceId);
    const file = (await uploaded(gateway, revoked.key, lines(30))).body.id;
    const batch = (await ordered(gateway, revoked.key, file)).body.id;
    await tick(gateway);
    expect((await gateway.delete(`/v1/api-keys/${revoked.id}`)).status).toBe(200);
    await tick(gateway);
    await tick(gateway);
    expect(provider.calls).toHaveLength(25);
    const { body } = await found(gateway, key, `/batches/${batch}`);
    expect(body).toMatchObject({ status: 'failed', errors: { data: [{ code: 'invalid_api_key' }] } });
    const output = await fetch(`${gateway.url}/v1/files/${body.output_file_id}/content`, {
      headers: { 'x-gw-api-key': key },
    });
    expect((await output.text()).trimEnd().split('\n')).toHaveLength(25);
  });

  test('a line that is nested without end is refused with its upload, and named', async () => {
    const deep = `{"custom_id":"deep","url":"/v1/chat/completions","body":{"model":"@a/m","messages":${'['.repeat(60_000)}${']'.repeat(60_000)}}}`;
    const { status, body } = await uploaded(gateway, key, `${line('plain')}\n${deep}`);
    expect({ status, message: body.error.message }).toEqual({
      status: 400,
      message: expect.stringContaining('line 2'),
    });
  });
});

test.if(postgresInstalled)('two nodes on one database run every line once', async () => {
  const provider = await startProvider(openai.says('Answer'));
  const env = { DATABASE_URL: await newMigratedDatabase(), GW_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') };
  const world = await startWorld({ a: { provider: 'openai', simulated: provider } }, env);
  const shared = { ...env, PORT: '0', GW_DATA_DIR: `${world.gateway.dataDir}-2`, TRUSTED_CUSTOM_HOSTS: '127.0.0.1' };
  const second = await startApp(readEnvironment(shared), { clock: world.gateway.clock });
  try {
    const { gateway } = world;
    const file = (await uploaded(gateway, gateway.workspaceKey, lines(90))).body.id;
    const batch = (await ordered(gateway, gateway.workspaceKey, file)).body.id;
    for (let round = 0; round < 6; round++) await Promise.all([tick(gateway), tick({ app: second })]);
    const { body } = await found(gateway, gateway.workspaceKey, `/batches/${batch}`);
    expect(body).toMatchObject({ status: 'completed', request_counts: { total: 90, completed: 90, failed: 0 } });
    expect(provider.calls).toHaveLength(90);
    expect(gateway.faults).toEqual([]);
  } finally {
    await second.stop();
    await world.stop();
    await provider.stop();
  }
});
