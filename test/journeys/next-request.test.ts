/** What is changed, deleted or expired holds for the very next request, and nothing of one tenant ever works for another. */
import { beforeAll, describe, expect, test } from 'bun:test';
import type { Json } from '../harness.ts';
import { sharedByTests } from '../journey.ts';
import { addKey, addOrganisation, addWorkspace, home } from '../people.ts';
import * as openai from '../providers/openai.ts';
import { type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let a: SimulatedProvider;
let b: SimulatedProvider;
let world: World;
let workspaceId: string;

beforeAll(async () => {
  a = await startProvider(openai.says('from a'));
  b = await startProvider(openai.says('from b'));
  world = await startWorld({ a: { provider: 'openai', simulated: a }, b: { provider: 'openai', simulated: b } });
  workspaceId = (await home(world.gateway)).workspaceId;
});
sharedByTests(
  () => world.gateway,
  () => [a, b],
);

type Fields = Record<string, string>;

const question = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Who are you?' }] };

/** Who answered, or the code of the refusal. */
const ask = async (headers: Fields, body: object = question): Promise<string> => {
  const response = await world.call('/v1/chat/completions', body, headers);
  const answer = (await response.json()) as Json;
  return answer.choices?.[0]?.message.content ?? `${response.status} ${answer.error.code}`;
};

const newKey = async (fields: object = {}): Promise<{ id: string; key: string }> => {
  const made = await world.gateway.post('/v1/api-keys/workspace/service', {
    name: 'A key',
    scopes: ['completions.write'],
    workspace_id: workspaceId,
    ...fields,
  });
  expect(made.status).toBe(200);
  return made.body;
};
const withKey = ({ key }: { key: string }): Fields => ({ 'x-gw-api-key': key, 'x-gw-provider': '@a' });

describe('a key', () => {
  test('that was deleted is unknown', async () => {
    const key = await newKey();
    expect(await ask(withKey(key))).toBe('from a');
    expect((await world.gateway.delete(`/v1/api-keys/${key.id}`)).status).toBe(200);
    expect(await ask(withKey(key))).toBe('401 invalid_api_key');
  });

  test('whose scope was taken away is refused', async () => {
    const key = await newKey();
    expect(await ask(withKey(key))).toBe('from a');
    await world.gateway.put(`/v1/api-keys/${key.id}`, { scopes: ['configs.read'] });
    expect(await ask(withKey(key))).toBe('403 insufficient_scope');
  });

  test('past its expiry is refused', async () => {
    const expires_at = new Date(world.gateway.clock.now().getTime() + 3_600_000).toISOString();
    const key = await newKey({ expires_at });
    expect(await ask(withKey(key))).toBe('from a');
    world.gateway.clock.advance({ hours: 1 });
    expect(await ask(withKey(key))).toBe('401 expired_api_key');
  });

  test('that was rotated counts beside its successor until the transition ends', async () => {
    const old = await newKey();
    expect(await ask(withKey(old))).toBe('from a');
    const { body } = await world.gateway.post(`/v1/api-keys/${old.id}/rotate`);
    expect([await ask(withKey(old)), await ask(withKey(body))]).toEqual(['from a', 'from a']);
    world.gateway.clock.moveTo(body.key_transition_expires_at);
    expect([await ask(withKey(old)), await ask(withKey(body))]).toEqual(['401 invalid_api_key', 'from a']);
  });

  test('that is given another default config uses it', async () => {
    const [first, second] = [await world.saveConfig({ provider: '@a' }), await world.saveConfig({ provider: '@b' })];
    const key = await newKey({ defaults: { config_id: first } });
    const headers = { 'x-gw-api-key': key.key };
    expect(await ask(headers)).toBe('from a');
    await world.gateway.put(`/v1/api-keys/${key.id}`, { defaults: { config_id: second } });
    expect(await ask(headers)).toBe('from b');
  });
});

describe('what is saved', () => {
  test('a config that was changed routes anew, and one that was deleted is unknown', async () => {
    const slug = await world.saveConfig({ provider: '@a' });
    const headers = { 'x-gw-config': slug };
    expect(await ask(headers)).toBe('from a');
    expect((await world.gateway.put(`/v1/configs/${slug}`, { config: { provider: '@b' } })).status).toBe(200);
    expect(await ask(headers)).toBe('from b');
    expect((await world.gateway.delete(`/v1/configs/${slug}`)).status).toBe(200);
    expect(await ask(headers)).toBe('400 config_not_found');
  });

  test('a provider that was deleted is unknown, also behind a config', async () => {
    await world.saveProvider('short-lived', 'openai', a);
    const config = await world.saveConfig({ provider: '@short-lived' });
    expect(await ask({ 'x-gw-provider': '@short-lived' })).toBe('from a');
    const gone = await world.gateway.delete(`/v1/providers/short-lived?workspace_id=${workspaceId}`);
    expect(gone.status).toBe(200);
    expect(await ask({ 'x-gw-provider': '@short-lived' })).toBe('400 provider_not_found');
    expect(await ask({ 'x-gw-config': config })).toBe('400 provider_not_found');
  });

  test('a credential and a host that were changed are the ones that are used', async () => {
    await world.saveProvider('moving', 'openai', a);
    expect(await ask({ 'x-gw-provider': '@moving' })).toBe('from a');
    const changed = await world.gateway.put('/v1/integrations/moving', {
      key: 'sk-second',
      configurations: { custom_host: b.url },
    });
    expect(changed.status).toBe(200);
    expect(await ask({ 'x-gw-provider': '@moving' })).toBe('from b');
    expect(b.calls[0]?.headers.authorization).toBe('Bearer sk-second');
  });

  test('a model that was disabled is refused', async () => {
    await world.saveProvider('picky', 'openai', a);
    expect(await ask({ 'x-gw-provider': '@picky' })).toBe('from a');
    const changed = await world.gateway.put('/v1/integrations/picky/models', {
      allow_all_models: false,
      models: [{ slug: 'gpt-4o', enabled: true }],
    });
    expect(changed.status).toBe(200);
    expect(await ask({ 'x-gw-provider': '@picky' })).toBe('403 model_not_allowed');
    expect(await ask({}, { ...question, model: '@picky/gpt-4o' })).toBe('from a');
  });
});

describe('another tenant', () => {
  test('cannot use our config, our provider or the prefix of our model, in whatever form', async () => {
    const { gateway } = world;
    const slug = await world.saveConfig({ provider: '@a' });
    const { body } = await gateway.get(`/v1/configs/${slug}`);
    const theirs = await addOrganisation(gateway);
    const key = await addKey(gateway, { ...theirs, type: 'workspace-service', scopes: ['completions.write'] });
    const headers = { 'x-gw-api-key': key.secret };
    expect(await ask({ ...headers, 'x-gw-config': slug })).toBe('400 config_not_found');
    expect(await ask({ ...headers, 'x-gw-config': body.id })).toBe('400 config_not_found');
    expect(await ask({ ...headers, 'x-gw-provider': '@a' })).toBe('400 provider_not_found');
    expect(await ask({ ...headers, 'x-gw-virtual-key': 'a' })).toBe('400 provider_not_found');
    expect(await ask(headers, { ...question, model: '@a/gpt-4o-mini' })).toBe('400 provider_not_found');
    expect(a.calls).toEqual([]);
    const listed = await gateway.get('/v1/models?provider=a', { key: key.secret });
    expect(listed.body.total_count).toBe(0);
  });

  test('does not find our log', async () => {
    const { gateway } = world;
    const response = await world.call('/v1/chat/completions', question, { 'x-gw-provider': '@a' });
    const [record] = await world.records(response.headers.get('x-gw-trace-id') ?? '', 1);
    const theirs = await addOrganisation(gateway);
    const key = await addKey(gateway, { ...theirs, type: 'workspace-service', scopes: ['completions.write'] });
    expect((await gateway.get(`/v1/logs/${record?.id}`, { key: key.secret })).status).toBe(404);
    expect((await gateway.get(`/v1/logs/${record?.id}`, { key: gateway.workspaceKey })).status).toBe(200);
  });

  test('and another workspace of ours is as far away', async () => {
    const { gateway } = world;
    const { organisationId } = await home(gateway);
    const elsewhere = await addWorkspace(gateway, organisationId, 'Elsewhere');
    const slug = await world.saveConfig({ provider: '@a' });
    const key = await addKey(gateway, {
      organisationId,
      workspaceId: elsewhere.id,
      type: 'workspace-service',
      scopes: ['completions.write'],
    });
    expect(await ask({ 'x-gw-api-key': key.secret, 'x-gw-config': slug })).toBe('400 config_not_found');
    expect(await ask({ 'x-gw-api-key': key.secret, 'x-gw-provider': '@a' })).toBe('400 provider_not_found');
  });
});
