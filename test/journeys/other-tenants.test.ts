/** What one organisation cannot learn of another: files of batches, links of exports, and rows that filters name. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import OpenAI, { toFile } from 'openai';
import { grantableTo } from '../../src/identity/scopes.ts';
import { onEachEngine } from '../harness.ts';
import { logRecord } from '../log-records.ts';
import { addConfig, addKey, addOrganisation, type Home, home, storeOf, type Tenant } from '../people.ts';
import * as openai from '../providers/openai.ts';
import { answered, OpenAiBatches } from '../providers/openai-batches.ts';
import { type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

const row = (id: string, content: string, model: string) =>
  JSON.stringify({
    custom_id: id,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model, messages: [{ role: 'user', content }] },
  });

onEachEngine('another tenant', (start) => {
  let provider: SimulatedProvider;
  let world: World;
  let here: Home;
  let theirs: Tenant;
  let theirKey: string;
  beforeAll(async () => {
    provider = await startProvider(openai.says('Answer'));
    world = await startWorld({ a: { provider: 'openai', simulated: provider } }, {}, start);
    await world.gateway.app.jobs.stop();
    here = await home(world.gateway);
    theirs = await addOrganisation(world.gateway);
    const { organisationId, workspaceId } = theirs;
    const key = { organisationId, workspaceId, type: 'workspace-service', scopes: grantableTo('S') } as const;
    theirKey = (await addKey(world.gateway, key)).secret;
  });
  afterAll(async () => {
    await world.gateway.stopWithoutFaults();
    await provider.stop();
  });

  const clientOf = (headers: Record<string, string> = {}) =>
    new OpenAI({
      apiKey: world.gateway.workspaceKey,
      baseURL: `${world.gateway.url}/v1`,
      maxRetries: 0,
      defaultHeaders: headers,
    });
  const order = async (client: OpenAI, rows: string[]) => {
    const file = await client.files.create({ purpose: 'batch', file: await toFile(Buffer.from(rows.join('\n')), 'r') });
    return client.batches.create({
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
  };
  const tick = async () => {
    world.gateway.clock.advance({ seconds: 31 });
    await world.gateway.app.jobs.runOnce('managed-batches');
  };
  const endOf = async (client: OpenAI, id: string) => {
    for (;;) {
      const batch = await client.batches.retrieve(id);
      if (batch.completed_at) return batch;
      await tick();
    }
  };
  const refused = async (batch: OpenAI.Batch) => {
    const files = [batch.input_file_id, batch.output_file_id, batch.error_file_id];
    expect(files).toEqual([expect.any(String), expect.any(String), expect.any(String)]);
    const asked = [
      ...files.flatMap((id) => [`GET /files/${id}`, `GET /files/${id}/content`, `DELETE /files/${id}`]),
      ...['', '/output'].map((part) => `GET /batches/${batch.id}${part}`),
      `POST /batches/${batch.id}/cancel`,
    ];
    for (const line of asked) {
      const [method = '', path = ''] = line.split(' ');
      for (const headers of [{}, { 'x-gw-provider': '@a' }]) {
        const answer = await fetch(`${world.gateway.url}/v1${path}`, {
          method,
          headers: { ...headers, 'x-gw-api-key': theirKey },
        });
        expect({ line, headers, status: answer.status, text: await answer.text() }).toEqual({
          line,
          headers,
          status: 404,
          text: expect.not.stringContaining('Answer'),
        });
      }
    }
    for (const id of files) expect((await clientOf().files.content(id ?? '')).status).toBe(200);
  };

  test('reads, deletes and cancels nothing of a batch that the gateway ran', async () => {
    const rows = [row('good', 'hi', '@a/gpt-4o-mini'), row('bad', 'hi', '@nobody/gpt-4o-mini')];
    const { id } = await order(clientOf(), rows);
    await refused(await endOf(clientOf(), id));
  });

  test('reads, deletes and cancels nothing of a batch that a provider ran between guardrails', async () => {
    const store = new OpenAiBatches();
    provider.script(store.behaviour);
    const config = await world.saveConfig({
      provider: '@a',
      input_guardrails: [{ 'default.contains': { words: ['forbidden'], operator: 'none' }, deny: true }],
    });
    const client = clientOf({ 'x-gw-config': config });
    const { id } = await order(client, [row('good', 'hi', 'gpt-4o-mini'), row('bad', 'forbidden', 'gpt-4o-mini')]);
    await tick();
    store.end(store.id(1), (asked) => answered(asked, openai.completion('Answer')));
    await refused(await endOf(client, id));
  });

  const keep = async (more: object = {}) => {
    const { logs } = world.gateway.app.services;
    const { organisationId: organisation_id, workspaceId: workspace_id } = here;
    logs.append(logRecord({ organisation_id, workspace_id, created_at: Date.now(), id: Bun.randomUUIDv7(), ...more }));
    await logs.settled();
  };

  test('gets nothing by the link of an export once its workspace is gone, nor does anybody else', async () => {
    const { gateway } = world;
    const made = await gateway.post('/v1/admin/workspaces', { name: 'Passing' });
    await keep({ workspace_id: made.body.id, workspace_slug: made.body.slug, trace_id: 'of-an-export' });
    const { body } = await gateway.post('/v1/logs/exports', {
      workspace_id: made.body.id,
      filters: { trace_id: 'of-an-export' },
      requested_data: ['id', 'trace_id'],
    });
    const path = `/v1/logs/exports/${body.id}`;
    expect((await gateway.post(`${path}/start`)).status).toBe(200);
    await gateway.app.jobs.runOnce('export-runner');
    const { signed_url } = (await gateway.get(`${path}/download`)).body;
    const link = async (key?: string) => {
      const answer = await fetch(signed_url, { headers: key ? { 'x-gw-api-key': key } : {} });
      return { status: answer.status, told: (await answer.text()).includes('of-an-export') };
    };
    expect(await link()).toEqual({ status: 200, told: true });
    for (const key of [theirKey, theirs.adminKey]) {
      expect((await gateway.get(path, { key })).status).toBe(404);
      expect((await gateway.get(`${path}/download`, { key })).status).toBe(404);
    }
    expect((await gateway.delete(`/v1/admin/workspaces/${made.body.id}`, { name: 'Passing' })).status).toBe(200);
    for (const key of [undefined, theirKey, theirs.adminKey]) {
      expect(await link(key)).toEqual({ status: 404, told: false });
    }
  });

  test('finds no row by any id or slug of ours in a filter', async () => {
    const { gateway } = world;
    const config = await addConfig(gateway, here.workspaceId);
    const mark = 'canary-of-ours';
    const { db } = storeOf(gateway);
    const { slug } = await db
      .selectFrom('workspaces')
      .select('slug')
      .where('id', '=', here.workspaceId)
      .executeTakeFirstOrThrow();
    const keyId = Bun.randomUUIDv7();
    await keep({
      workspace_slug: slug,
      trace_id: mark,
      span_id: mark,
      api_key_id: keyId,
      config: config.slug,
      config_id: config.id,
      prompt_slug: 'our-prompt',
      prompt_id: 'our-prompt-id',
      virtual_key: 'our-provider',
      user_id: here.owner.userId,
      ai_model: mark,
      metadata: { _user: here.owner.userId },
    });
    const filters: Record<string, string>[] = [
      { workspace_id: here.workspaceId },
      { workspace_slug: slug },
      { api_key_ids: keyId },
      { configs: config.slug },
      { configs: config.id },
      { prompt_slug: 'our-prompt' },
      { virtual_keys: 'our-provider' },
      { trace_id: mark },
      { span_id: mark },
      { ai_model: mark },
      { metadata: JSON.stringify({ _user: here.owner.userId }) },
    ];
    const paths = [
      '/v1/logs',
      '/v1/logs/filter-values',
      '/v1/analytics/graphs/requests',
      '/v1/analytics/graphs/cost',
      '/v1/analytics/groups/users',
      '/v1/analytics/groups/ai-models',
      '/v1/analytics/groups/metadata/_user',
      '/v1/analytics/groups/api_key',
      '/v1/analytics/groups/config',
      '/v1/analytics/groups/prompt',
      '/v1/analytics/groups/workspace',
      '/v1/analytics/summary/cache',
    ];
    const now = Date.now();
    const range = {
      time_of_generation_min: new Date(now - 3_600_000).toISOString(),
      time_of_generation_max: new Date(now + 3_600_000).toISOString(),
    };
    const ask = (path: string, filter: Record<string, string>, key: string) =>
      gateway.get(`${path}?${new URLSearchParams({ ...range, ...filter })}`, { key });
    expect((await ask('/v1/logs', { trace_id: mark }, gateway.adminKey)).body.total).toBe(1);
    const served = new Set<string>();
    for (const path of paths) {
      for (const filter of filters) {
        for (const key of [theirKey, theirs.adminKey]) {
          const { status, body } = await ask(path, filter, key);
          const at = { path, filter, status };
          if (status === 200) {
            served.add(path);
            const asText = JSON.stringify({ ...body, href: null });
            expect({
              ...at,
              found: /"(?:total|total_requests|requests|request_count|avg)":[1-9]/.exec(asText),
            }).toEqual({
              ...at,
              found: null,
            });
            expect({ ...at, told: asText.includes(here.workspaceId) || asText.includes(mark) }).toEqual({
              ...at,
              told: false,
            });
          } else expect({ ...at, isRefused: [400, 403, 404].includes(status) }).toEqual({ ...at, isRefused: true });
        }
      }
    }
    expect([...served].sort()).toEqual([...paths].sort());
    for (const key of [theirKey, theirs.adminKey]) {
      const filtersOfExport = { trace_id: mark };
      const made = await gateway.post(
        '/v1/logs/exports',
        { filters: filtersOfExport, requested_data: ['id'] },
        { key },
      );
      expect([made.status, made.body.total]).toEqual([200, 0]);
      const elsewhere = { workspace_id: here.workspaceId, filters: {}, requested_data: ['id'] };
      expect([403, 404]).toContain((await gateway.post('/v1/logs/exports', elsewhere, { key })).status);
    }
  });
});
