/** Limits where a call is not one question and one answer: realtime sessions, rows of batches, rounds of tools, prompts. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import OpenAI, { toFile } from 'openai';
import type { Json } from '../harness.ts';
import { type SimulatedModel, startModel } from '../mcp/model.ts';
import { saveIntegration, startUpstream, type UpstreamServer } from '../mcp/upstream.ts';
import * as openai from '../providers/openai.ts';
import { type SimulatedRealtime, startRealtime } from '../providers/realtime.ts';
import { type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { RealtimeClient } from '../realtime-client.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let voice: SimulatedRealtime;
let model: SimulatedModel;
let tools: UpstreamServer;
let world: World;
let workspaceId: string;

beforeAll(async () => {
  provider = await startProvider(openai.says('Hello'));
  voice = startRealtime();
  model = startModel();
  tools = await startUpstream('session-server.ts');
  world = await startWorld({ a: { provider: 'openai', simulated: provider } });
  await world.saveProvider('voice', 'openai', voice);
  await world.saveProvider('models', 'openai', model);
  await saveIntegration(world.gateway, { slug: 'notes', url: tools.url });
  workspaceId = (await world.gateway.get('/v1/workspaces')).body.data[0].id;
});
afterAll(async () => {
  await world.gateway.stopWithoutFaults();
  await provider.stop();
  await voice.stop();
  model.stop();
  tools.stop();
});
beforeEach(() => {
  provider.calls.length = 0;
});

const newKey = async (): Promise<{ id: string; key: string }> => {
  const made = await world.gateway.post('/v1/api-keys/workspace/service', {
    name: 'Limited',
    workspace_id: workspaceId,
    scopes: ['completions.write', 'prompts.render', 'mcp.invoke'],
  });
  expect(made.status).toBe(200);
  return made.body;
};
const policy = async (body: object): Promise<string> => {
  const made = await world.gateway.post('/v1/policies/usage-limits', { workspace_id: workspaceId, ...body });
  expect(made.status).toBe(200);
  return made.body.id;
};
const onlyFor = ({ id }: { id: string }) => ({ conditions: [{ key: 'api_key', value: id }] });
const used = async (id: string): Promise<Json> => {
  const { data } = (await world.gateway.get(`/v1/policies/usage-limits/${id}/entities`)).body;
  return { current_usage: data[0]?.current_usage ?? 0, reserved: data[0]?.reserved ?? 0 };
};
const untilUsed = async (id: string, usage: Json): Promise<void> => {
  for (;;) if (Bun.deepEquals(await used(id), usage)) return;
};

test('a session takes its room turn by turn, and ends where there is none for another', async () => {
  const key = await newKey();
  const tokens = await policy({ ...onlyFor(key), type: 'tokens', credit_limit: 700 });
  const requests = await policy({ ...onlyFor(key), type: 'requests', credit_limit: 10 });
  const address = `${world.gateway.url.replace('http', 'ws')}/v1/realtime?model=@voice/gpt-realtime`;
  const client = await RealtimeClient.open(address, { 'x-gw-api-key': key.key });
  // A turn takes 253 tokens: a third one would pass the limit.
  for (let turn = 1; turn <= 2; turn++) {
    client.say({ type: 'response.create' });
    await client.event('response.done');
    if (turn === 1) expect((await used(tokens)).reserved).toBeGreaterThanOrEqual(253);
  }
  const { code } = await client.closed;
  expect(code).toBe(4412);
  await untilUsed(tokens, { current_usage: 506, reserved: 0 });
  await untilUsed(requests, { current_usage: 1, reserved: 0 });
});

test('a session that its client leaves holds nothing', async () => {
  const key = await newKey();
  const tokens = await policy({ ...onlyFor(key), type: 'tokens', credit_limit: 100_000 });
  const address = `${world.gateway.url.replace('http', 'ws')}/v1/realtime?model=@voice/gpt-realtime`;
  const client = await RealtimeClient.open(address, { 'x-gw-api-key': key.key });
  client.say({ type: 'response.create' });
  await client.event('response.done');
  client.socket.close();
  await untilUsed(tokens, { current_usage: 253, reserved: 0 });
});

test('rows of a batch are counted like calls, and those beyond the limit are refused as rows', async () => {
  const client = new OpenAI({ apiKey: world.gateway.workspaceKey, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
  const id = await policy({
    conditions: [{ key: 'metadata.batch', value: 'limited' }],
    type: 'tokens',
    credit_limit: 100,
  });
  const question = { model: '@a/gpt-4o-mini', messages: [{ role: 'user' as const, content: 'Hi' }], max_tokens: 10 };
  // From now on the gateway knows how this model counts.
  await policy({ conditions: [{ key: 'metadata.batch', value: 'first' }], type: 'tokens', credit_limit: 1_000 });
  const marked = (batch: string) => ({ headers: { 'x-gw-metadata': JSON.stringify({ batch }) } });
  await client.chat.completions.create(question, marked('first'));
  const rows = Array.from({ length: 5 }, (_, n) =>
    JSON.stringify({
      custom_id: `row-${n}`,
      method: 'POST',
      url: '/v1/chat/completions',
      body: question,
    }),
  );
  const file = await client.files.create({
    purpose: 'batch',
    file: await toFile(Buffer.from(rows.join('\n')), 'rows.jsonl'),
  });
  const { id: batchId } = await client.batches.create(
    { input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' },
    marked('limited'),
  );
  let batch = await client.batches.retrieve(batchId);
  while (batch.status !== 'completed') {
    await world.gateway.app.jobs.runOnce('managed-batches');
    batch = await client.batches.retrieve(batchId);
  }
  expect(batch.request_counts).toEqual({ total: 5, completed: 3, failed: 2 });
  expect(await used(id)).toEqual({ current_usage: 90, reserved: 0 });
  const refused = await (await client.files.content(batch.error_file_id ?? '')).text();
  expect(refused).toContain('usage limit exceeded');
});

test('each round of server-side tools is a call of its own, and the first that does not fit is refused', async () => {
  const key = await newKey();
  const tokens = await policy({ ...onlyFor(key), type: 'tokens', credit_limit: 10_000 });
  const ask = () =>
    fetch(`${world.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'x-gw-api-key': key.key,
        'x-gw-provider': '@models',
        'x-gw-beta': 'server-side-mcp-2026-06-01',
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        model: 'gpt-4o',
        messages: [{ role: 'user', content: 'hi' }],
        max_tokens: 20,
        tools: [{ type: 'mcp', server_label: '@gw-mcp/notes' }],
      }),
    });
  model.script = [[{ name: 'notes__echo', arguments: { text: 'one' } }]];
  const answer = await ask();
  expect(answer.status).toBe(200);
  expect((await answer.json()).usage.total_tokens).toBe(30);
  expect(await used(tokens)).toEqual({ current_usage: 30, reserved: 0 });
  await world.gateway.put(`/v1/policies/usage-limits/${tokens}`, { credit_limit: 31 });
  expect((await ask()).status).toBe(412);
  expect(await used(tokens)).toEqual({ current_usage: 30, reserved: 0 });
});

test('a policy on a prompt counts its calls before they are routed, also where a target runs it in place of another', async () => {
  const { body: collections } = await world.gateway.get('/v1/collections', { key: world.gateway.workspaceKey });
  const save = async (name: string): Promise<string> => {
    const saved = await world.gateway.post(
      '/v1/prompts',
      {
        name,
        collection_id: collections.data[0].id,
        string: JSON.stringify([{ role: 'user', content: 'Hello' }]),
        parameters: { max_tokens: 10 },
        virtual_key: '@a',
        model: 'gpt-4o-mini',
      },
      { key: world.gateway.workspaceKey },
    );
    expect(saved.status).toBe(200);
    return saved.body.slug;
  };
  const [limited, free] = [await save('Limited'), await save('Free')];
  const id = await policy({ conditions: [{ key: 'prompt', value: limited }], type: 'requests', credit_limit: 2 });
  const config = await world.saveConfig({ provider: '@a', prompt_id: limited });
  const run = async (slug: string, headers: Record<string, string> = {}) =>
    (await world.call(`/v1/prompts/${slug}/completions`, {}, headers)).status;
  expect(await run(limited)).toBe(200);
  expect(await run(free)).toBe(200);
  expect(await used(id)).toEqual({ current_usage: 1, reserved: 0 });
  expect(await run(free, { 'x-gw-config': config })).toBe(200);
  expect(await used(id)).toEqual({ current_usage: 2, reserved: 0 });
  expect(await run(limited)).toBe(412);
  expect(await run(free, { 'x-gw-config': config })).toBe(412);
  expect(await run(free)).toBe(200);
});
