/** Saved-only mode, the default config of a key, and other prefixes for our headers. */
import { beforeAll, describe, expect, test } from 'bun:test';
import type { Json } from '../harness.ts';
import { sharedByTests } from '../journey.ts';
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
  world = await startWorld(
    { a: { provider: 'openai', simulated: a }, b: { provider: 'openai', simulated: b } },
    { HEADER_PREFIX_ALIASES: 'x-acme-, x-other-' },
  );
  workspaceId = (await world.gateway.get('/v1/workspaces')).body.data[0].id;
});
sharedByTests(
  () => world.gateway,
  () => [a, b],
);

type Fields = Record<string, string>;

const question = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Who are you?' }] };

const reply = async (headers: Fields, body: object = question): Promise<{ response: Response; body: Json }> => {
  const response = await world.call('/v1/chat/completions', body, headers);
  return { response, body: await response.json() };
};

/** Who answered, or the code of the refusal. */
const ask = async (headers: Fields, question?: object): Promise<string> => {
  const { response, body } = await reply(headers, question);
  return body.choices?.[0]?.message.content ?? `${response.status} ${body.error.code}`;
};

/** A workspace key with these fields. */
const key = async (fields: object): Promise<string> => {
  const made = await world.gateway.post('/v1/api-keys/workspace/service', {
    name: 'A key',
    scopes: ['completions.write'],
    workspace_id: workspaceId,
    ...fields,
  });
  expect(made.status).toBe(200);
  return made.body.key;
};

describe('where only what is saved may be used', () => {
  const blocked: [code: string, headers: Fields][] = [
    ['inline_config_blocked', { 'x-gw-config': ' {"provider":"@a"}' }],
    ['inline_provider_blocked', { 'x-gw-provider': 'openai' }],
    ['inline_custom_host_blocked', { 'x-gw-custom-host': 'https://models.example/v1' }],
    ['inline_provider_url_blocked', { 'x-gw-azure-foundry-url': 'https://models.example' }],
    ['inline_provider_url_blocked', { 'x-gw-huggingface-base-url': 'https://models.example' }],
    ['inline_provider_url_blocked', { 'x-gw-databricks-workspace': 'mine' }],
    ['inline_forward_headers_blocked', { 'x-gw-forward-headers': 'x-custom' }],
  ];
  for (const [code, headers] of blocked) {
    test(`${Object.keys(headers)[0]} is refused with ${code}`, async () => {
      const { response, body } = await reply(headers);
      expect(response.status).toBe(400);
      expect(body).toMatchObject({ status: 'failure', error: { code, field: Object.keys(headers)[0] } });
      expect(body.error.message).toBe(body.message);
      expect(a.calls).toEqual([]);
    });
  }

  test('of several faults the first in order is told', async () => {
    const all = Object.assign({}, ...blocked.map(([, headers]) => headers));
    expect(await ask(all)).toBe('400 inline_config_blocked');
    expect(await ask({ ...all, 'x-gw-config': 'pc-1' })).toBe('400 inline_provider_blocked');
    expect(await ask({ ...all, 'x-gw-config': 'pc-1', 'x-gw-provider': '@a' })).toBe('400 inline_custom_host_blocked');
  });

  test('a provider by its name hides behind no saved one in the same header', async () => {
    expect(await ask({ 'x-gw-provider': '@a, openai' })).toBe('from a');
    expect(await ask({ 'x-gw-provider': 'openai, @a' })).toBe('400 inline_provider_blocked');
  });

  test('slugs, virtual keys, models with a slug and Authorization stay allowed', async () => {
    const slug = await world.saveConfig({ provider: '@a' });
    expect(await ask({ 'x-gw-config': slug })).toBe('from a');
    expect(await ask({ 'x-gw-virtual-key': 'b' })).toBe('from b');
    expect(await ask({ 'x-gw-provider': '@a', authorization: 'Bearer sk-mine' })).toBe('from a');
    expect(await ask({}, { ...question, model: '@b/gpt-4o-mini' })).toBe('from b');
    expect(a.calls.map(({ headers }) => headers.authorization)).toEqual(Array(2).fill('Bearer sk-a-secret'));
  });

  test('headers configured on a saved config are still forwarded', async () => {
    const slug = await world.saveConfig({ provider: '@a', forward_headers: ['x-custom'] });
    expect(await ask({ 'x-gw-config': slug, 'x-custom': 'kept' })).toBe('from a');
    expect(a.calls[0]?.headers['x-custom']).toBe('kept');
  });

  test('the setting takes effect with the next request, both ways', async () => {
    const set = (block_inline_config: boolean) =>
      world.gateway.put('/v1/admin/organisation/settings', { data_plane_security_settings: { block_inline_config } });
    const inline = { 'x-gw-config': '{"provider":"@a"}' };
    await set(false);
    expect(await ask(inline)).toBe('from a');
    await set(true);
    expect(await ask(inline)).toBe('400 inline_config_blocked');
  });
});

describe('the default config of a key', () => {
  test('is used when the request names none, and replaced wholly by one that it names', async () => {
    const own = await world.saveConfig({ provider: '@a', override_params: { temperature: 0 } });
    const other = await world.saveConfig({ provider: '@b' });
    const headers = { 'x-gw-api-key': await key({ defaults: { config_id: own } }) };
    expect(await ask(headers)).toBe('from a');
    expect(await ask({ ...headers, 'x-gw-config': other })).toBe('from b');
    expect([a.calls[0]?.json.temperature, b.calls[0]?.json.temperature]).toEqual([0, undefined]);
  });

  test('of a key that forbids another is the only one, by whichever name', async () => {
    const own = await world.saveConfig({ provider: '@a' });
    const other = await world.saveConfig({ provider: '@b' });
    const bound = await key({ defaults: { config_id: own, allow_config_override: false } });
    const headers = { 'x-gw-api-key': bound };
    expect(await ask(headers)).toBe('from a');
    expect(await ask({ ...headers, 'x-gw-config': own })).toBe('from a');
    expect(await ask({ ...headers, 'x-gw-config': other })).toBe('400 config_override_not_allowed');
    expect(await ask({ ...headers, 'x-gw-provider': '@b' })).toBe('from a');
    expect(await ask(headers, { ...question, model: '@b/gpt-4o-mini' })).toBe('400 provider_conflict');
  });

  test('leaves the integrated models to a key that names no provider', async () => {
    const { body } = await world.gateway.get('/v1/models?provider=a', { key: await key({}) });
    expect(body.data.length).toBeGreaterThan(0);
  });
});

describe('other prefixes for our headers', () => {
  test('are understood, answered with, and kept from the provider', async () => {
    const { response, body } = await reply({
      'x-acme-provider': '@b',
      'x-acme-trace-id': 't-1',
      'x-acme-metadata': '{"team":"x"}',
    });
    expect(body.choices[0].message.content).toBe('from b');
    const answered = Object.fromEntries(response.headers);
    expect(answered).toMatchObject({
      'x-acme-trace-id': 't-1',
      'x-acme-provider': 'openai',
      'x-acme-cache-status': 'DISABLED',
    });
    expect(Object.keys(answered).filter((name) => name.startsWith('x-gw-'))).toEqual([]);
    expect(Object.keys(b.calls[0]?.headers ?? {}).filter((name) => /^x-(acme|gw)-/.test(name))).toEqual([]);
    const [record] = await world.records('t-1', 1);
    expect(record?.metadata).toEqual({ team: 'x' });
  });

  test('carry the key too, on unified routes and on passthrough', async () => {
    const { url, workspaceKey } = world.gateway;
    for (const path of ['/v1/chat/completions', '/v1/proxy/chat/completions']) {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'X-Acme-Api-Key': workspaceKey, 'X-Acme-Virtual-Key': 'a' },
        body: JSON.stringify(question),
      });
      expect(response.status).toBe(200);
    }
    for (const { headers } of a.calls) expect(JSON.stringify(headers)).not.toContain(workspaceKey);
  });

  test('are masked in the log like our own, and of refusals too they are the answer', async () => {
    const { workspaceKey, url } = world.gateway;
    const refused = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-acme-api-key': 'unknown', 'x-acme-trace-id': 't-2' },
      body: '{}',
    });
    expect([refused.status, refused.headers.get('x-acme-trace-id')]).toEqual([401, 't-2']);
    await reply({ 'x-acme-provider': '@a', 'x-acme-trace-id': 't-3', 'x-acme-api-key': workspaceKey });
    const [record] = await world.records('t-3', 1);
    const log = await world.gateway.get(`/v1/logs/${record?.id}`);
    expect(log.body.request.headers['x-acme-api-key']).toStartWith('masked:');
    expect(JSON.stringify(log.body)).not.toContain(workspaceKey);
  });

  test('of which each client uses one: another of them in the same request stays from the provider too', async () => {
    await reply({ 'x-acme-provider': '@a', 'x-other-api-key': world.gateway.workspaceKey });
    const proxied = { 'x-gw-api-key': world.gateway.workspaceKey, 'x-acme-provider': '@a', 'x-other-note': 'ours' };
    await world.call('/v1/proxy/chat/completions', question, proxied);
    expect(Object.keys(a.calls[1]?.headers ?? {}).filter((name) => name.startsWith('x-other-'))).toEqual([]);
  });
});
