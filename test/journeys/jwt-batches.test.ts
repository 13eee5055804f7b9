/** A batch that a JWT has ordered, run by another node than the one that took the order: with the rights and limits of the token. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type App, startApp } from '../../src/app.ts';
import { readEnvironment } from '../../src/environment.ts';
import { type Issuer, startIssuer } from '../issuer.ts';
import { addPerson, type Home, home } from '../people.ts';
import * as openai from '../providers/openai.ts';
import { type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { newDatabase, postgresInstalled } from '../servers/postgres.ts';
import { startWorld, type World } from '../world.ts';

describe.if(postgresInstalled)('a batch of a token on two nodes', () => {
  let world: World;
  let other: App;
  let here: Home;
  let issuer: Issuer;
  let provider: SimulatedProvider;

  beforeAll(async () => {
    provider = await startProvider(openai.says('Answer'));
    const env = { DATABASE_URL: await newDatabase(), GW_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') };
    world = await startWorld({ a: { provider: 'openai', simulated: provider } }, env);
    const shared = { ...env, PORT: '0', GW_DATA_DIR: `${world.gateway.dataDir}-2`, TRUSTED_CUSTOM_HOSTS: '127.0.0.1' };
    other = await startApp(readEnvironment(shared), { clock: world.gateway.clock });
    here = await home(world.gateway);
    issuer = await startIssuer();
    await switched(true);
  });
  afterAll(async () => {
    issuer.stop();
    await other.stop();
    await world.stop();
    await provider.stop();
  });
  beforeEach(() => {
    provider.calls.length = 0;
  });

  const switched = async (enabled: boolean) => {
    const jwt = { enabled, jwks_json: issuer.keySet() };
    expect((await world.gateway.put('/v1/admin/organisation/auth-settings', { jwt })).status).toBe(200);
  };

  const seconds = () => Math.floor(world.gateway.clock.now().getTime() / 1_000);
  const token = (more: Record<string, unknown> = {}) =>
    issuer.token({
      gw_oid: here.organisationId,
      gw_workspace: here.workspaceId,
      scope: 'completions.write completions.read',
      exp: seconds() + 600,
      iat: seconds(),
      ...more,
    });

  const line = (index: number) =>
    JSON.stringify({
      custom_id: `row-${index}`,
      url: '/v1/chat/completions',
      body: { model: '@a/gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] },
    });

  /** Ordered at the first node. */
  async function ordered(key: string, lines: number): Promise<string> {
    const form = new FormData();
    form.set('purpose', 'batch');
    form.set('file', new File([Array.from({ length: lines }, (_, index) => line(index)).join('\n')], 'rows.jsonl'));
    const headers = { 'x-gw-api-key': key };
    const file = await fetch(`${world.gateway.url}/v1/files`, { method: 'POST', headers, body: form });
    const { id: input_file_id } = await file.json();
    const order = { input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' };
    const batch = await world.gateway.post('/v1/batches', order, { key });
    expect(batch.body).toMatchObject({ object: 'batch' });
    return batch.body.id;
  }

  const runElsewhere = async (): Promise<void> => {
    for (let round = 0; round < 3; round++) await other.jobs.runOnce('managed-batches');
  };

  const found = async (id: string) => (await world.gateway.get(`/v1/batches/${id}`, { key: await token() })).body;

  test('runs to its end, also after the token has expired', async () => {
    const id = await ordered(await token(), 30);
    world.gateway.clock.advance({ seconds: 3_600 });
    await runElsewhere();
    expect(await found(id)).toMatchObject({ status: 'completed', request_counts: { completed: 30, failed: 0 } });
    expect(provider.calls).toHaveLength(30);
  });

  test('keeps the limits of the token', async () => {
    const limited = { sub: 'limited', rate_limits: [{ type: 'requests', unit: 'rpd', value: 5 }] };
    const id = await ordered(await token(limited), 10);
    await runElsewhere();
    const { request_counts } = await found(id);
    expect(request_counts.completed).toBeLessThanOrEqual(5);
    expect(provider.calls.length).toBeLessThanOrEqual(5);
    expect(request_counts.completed + request_counts.failed).toBe(10);
  });

  test.each([
    ['the organisation switches tokens off', async () => switched(false)],
    [
      'the person is removed from the workspace',
      async (userId: string) => {
        const path = `/v1/admin/workspaces/${here.workspaceId}/users/${userId}`;
        expect((await world.gateway.delete(path)).status).toBe(200);
      },
    ],
  ])('ends when %s', async (_, change) => {
    const person = await addPerson(world.gateway, here.organisationId, 'member', {
      workspaces: { [here.workspaceId]: 'member' },
    });
    const id = await ordered(await token({ email_id: person.email }), 3);
    await change(person.userId);
    await runElsewhere();
    await switched(true);
    expect(await found(id)).toMatchObject({ status: 'failed', errors: { data: [{ code: 'invalid_api_key' }] } });
    expect(provider.calls).toHaveLength(0);
  });
});
