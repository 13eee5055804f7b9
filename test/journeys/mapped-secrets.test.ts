/** Every object that takes credentials from a secret manager: the value reaches the upstream, and so does a rotated one. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type MappedSecrets, newSecret, newSlug, startMappedSecrets } from '../mapped-secrets.ts';
import { sessionClient } from '../mcp/clients.ts';
import { saveIntegration, startUpstream, type UpstreamServer } from '../mcp/upstream.ts';
import * as openai from '../providers/openai.ts';
import { type SimulatedRealtime, startRealtime } from '../providers/realtime.ts';
import { type Behaviour, json, reset, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { RealtimeClient } from '../realtime-client.ts';
import { vaultServer } from '../secret-managers/vault.ts';
import type { World } from '../world.ts';

let mapped: MappedSecrets;
let world: World;
let workspaceId: string;
let vault: SimulatedProvider;
let rotate: MappedSecrets['rotate'];
let newReference: MappedSecrets['newReference'];
let models: SimulatedProvider;
let partner: SimulatedProvider;
let realtime: SimulatedRealtime;
let tools: UpstreamServer;
let guardedTools: ReturnType<typeof Bun.serve>;

/** What upstreams were shown, in order, and the one value that they accept; null: any. */
const shown: string[] = [];
let accepted: string | null = null;

function isAccepted(credential: string | null | undefined): boolean {
  const value = (credential ?? '').replace('Bearer ', '');
  shown.push(value);
  return accepted === null || value === accepted;
}

const unauthorized = json(401, { error: { message: 'Incorrect API key provided', type: 'invalid_request_error' } });

const guarded =
  (header: string, behaviour: Behaviour): Behaviour =>
  (call, response) =>
    (isAccepted(call.headers[header]) ? behaviour : unauthorized)(call, response);

const modelApi = openai.says('Hello');
const moderation = json(200, { id: 'm', model: 'omni', results: [{ flagged: false, categories: { hate: false } }] });

beforeAll(async () => {
  mapped = await startMappedSecrets();
  ({ world, workspaceId, vault, rotate, newReference } = mapped);
  models = await startProvider((call, response) => {
    const header = call.headers['x-partner-key'] === undefined ? 'authorization' : 'x-partner-key';
    const behaviour = call.path.endsWith('/moderations') ? moderation : modelApi;
    return guarded(header, behaviour)(call, response);
  });
  partner = await startProvider(guarded('authorization', json(200, { flagged: false, breakdown: [] })));
  realtime = startRealtime();
  realtime.refuse(401, ({ headers }) => isAccepted(headers.authorization));
  tools = await startUpstream('session-server.ts');
  guardedTools = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) =>
      isAccepted(request.headers.get('x-partner-key'))
        ? fetch(tools.url, { method: request.method, headers: request.headers, body: request.body })
        : Response.json({ error: 'unauthorized' }, { status: 401 }),
  });
  await world.saveProvider('plain', 'openai', await unguarded());
});

let plain: SimulatedProvider | null = null;
const unguarded = async (): Promise<SimulatedProvider> => {
  plain = await startProvider(modelApi);
  return plain;
};

afterAll(async () => {
  await mapped.stop();
  tools.stop();
  await guardedTools.stop(true);
  await realtime.stop();
  for (const server of [models, partner, plain]) await server?.stop();
});

beforeEach(() => {
  vault.script((call, response) => vaultServer(mapped.state)(call, response));
  accepted = null;
  shown.length = 0;
});

async function made(path: string, body: object): Promise<void> {
  const answer = await world.gateway.post(path, body);
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 200 });
}

const question = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] };

const chat = async (headers: Record<string, string>): Promise<void> => {
  await (await world.call('/v1/chat/completions', question, headers)).text();
};

const asKey = (slug: string) => [{ target_field: 'key', secret_reference_id: slug }];
const asHeaders = (field: string, slug: string) => [
  { target_field: field, secret_reference_id: slug, secret_key: 'headers', value_format: 'json' },
];

/** Makes an object that maps the reference, and answers how it is used. */
type Place = (slug: string) => Promise<() => Promise<void>>;

const integration = async (slug: string, more: object): Promise<void> => {
  const configurations = { custom_host: models.url };
  await world.saveProvider(slug, 'openai', models, { key: null, configurations, ...more });
};

const moderated = async (slug: string) => {
  const check = { 'gw.moderateContent': { categories: ['hate'], provider: `@${slug}` }, deny: true };
  const config = await world.saveConfig({ provider: '@plain', input_guardrails: [check] });
  return () => chat({ 'x-gw-config': config });
};

const places: Record<string, Place> = {
  'the key of an integration': async (slug) => {
    await integration(slug, { secret_mappings: asKey(slug) });
    return () => chat({ 'x-gw-provider': `@${slug}` });
  },
  'a setting of an integration, as JSON': async (slug) => {
    await integration(slug, { key: 'sk-own', secret_mappings: asHeaders('configurations.custom_headers', slug) });
    return () => chat({ 'x-gw-provider': `@${slug}` });
  },
  'a provider, over its integration': async (slug) => {
    await integration(`${slug}-base`, { key: 'sk-of-the-integration' });
    await made('/v1/providers', {
      name: slug,
      slug,
      integration_id: `${slug}-base`,
      workspace_id: workspaceId,
      secret_mappings: asKey(slug),
    });
    return () => chat({ 'x-gw-provider': `@${slug}` });
  },
  'a virtual key': async (slug) => {
    await made('/v1/virtual-keys', {
      name: slug,
      slug,
      provider: 'openai',
      workspace_id: workspaceId,
      customHost: models.url,
      secret_mappings: asKey(slug),
    });
    return () => chat({ 'x-gw-virtual-key': slug });
  },
  'a setting of a virtual key': async (slug) => {
    await made('/v1/virtual-keys', {
      name: slug,
      slug,
      provider: 'openai',
      key: 'sk-own',
      workspace_id: workspaceId,
      customHost: models.url,
      secret_mappings: asHeaders('model_config.custom_headers', slug),
    });
    return () => chat({ 'x-gw-virtual-key': slug });
  },
  'a realtime session': async (slug) => {
    await integration(slug, { configurations: { custom_host: realtime.url }, secret_mappings: asKey(slug) });
    const address = `${world.gateway.url.replace('http', 'ws')}/v1/realtime?model=@${slug}/gpt-realtime`;
    return async () => {
      const client = await RealtimeClient.open(address, { 'x-gw-api-key': world.gateway.workspaceKey });
      client.socket.close();
      await client.closed;
    };
  },
  'the moderation of a guardrail': async (slug) => {
    await integration(slug, { secret_mappings: asKey(slug) });
    return moderated(slug);
  },
  'a plugin': async (slug) => {
    const plugin = {
      credentials: { apiBase: partner.url.replace('/v1', '') },
      secret_mappings: [{ target_field: 'apiKey', secret_reference_id: slug }],
    };
    // There is one plugin of a kind; the first place makes it.
    const answer = await world.gateway.post('/v1/plugins', { id: 'lakera', ...plugin });
    if (answer.status !== 200) expect((await world.gateway.put('/v1/plugins/lakera', plugin)).status).toBe(200);
    const guard = { input_guardrails: [{ 'lakera.guard': {}, deny: true }] };
    const config = await world.saveConfig({ provider: '@plain', ...guard });
    return () => chat({ 'x-gw-config': config });
  },
  'an MCP integration': async (slug) => {
    await saveIntegration(world.gateway, {
      slug,
      url: `http://127.0.0.1:${guardedTools.port}/mcp`,
      auth_type: 'headers',
      secret_mappings: asHeaders('configurations.custom_headers', slug),
    });
    return async () => {
      const client = await sessionClient(`${world.gateway.url}/${slug}/mcp`, {
        'x-gw-api-key': world.gateway.workspaceKey,
      });
      await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
      await client.close();
    };
  },
};

describe.each(Object.entries(places))('%s', (_, place) => {
  let secret: string;
  let slug: string;
  let use: () => Promise<void>;

  beforeEach(async () => {
    secret = newSecret();
    slug = newSlug();
    await newReference(slug, secret);
    use = await place(slug);
  });

  test('gets the value, and a rotated one once its age is over', async () => {
    await use();
    expect(new Set(shown)).toEqual(new Set([secret]));
    const next = newSecret();
    rotate(slug, next);
    shown.length = 0;
    world.gateway.clock.advance({ seconds: 301 });
    await use();
    expect(new Set(shown)).toEqual(new Set([next]));
  });

  test('gets a rotated value at once when the upstream refuses the old one', async () => {
    await use();
    const next = newSecret();
    rotate(slug, next);
    accepted = next;
    shown.length = 0;
    await use();
    expect([shown[0], shown[1], shown.at(-1)]).toEqual([secret, next, next]);
    shown.length = 0;
    await use();
    expect(new Set(shown)).toEqual(new Set([next]));
  });

  test('keeps the last known value while the manager is away, and it is said', async () => {
    await use();
    vault.script(reset);
    world.gateway.clock.advance({ seconds: 301 });
    shown.length = 0;
    await use();
    expect(new Set(shown)).toEqual(new Set([secret]));
    const { body } = await world.gateway.get(`/v1/secret-references/${slug}`);
    expect(body.resolution).toMatchObject({ state: 'stale' });
    expect(body.resolution.error).toContain('the manager cannot be reached');
  });
});
