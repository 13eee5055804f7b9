/** Batches that a provider runs between guardrails: rows are checked before it gets them, and answers before anybody else does. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import OpenAI, { toFile } from 'openai';
import { type Json, onEachEngine } from '../harness.ts';
import { storeOf } from '../people.ts';
import * as openai from '../providers/openai.ts';
import { answered, OpenAiBatches } from '../providers/openai-batches.ts';
import { json, reset, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

const row = (id: string, content: string, more: object = {}) =>
  JSON.stringify({
    custom_id: id,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content }], ...more },
  });

const input = [
  { 'default.contains': { words: ['forbidden'], operator: 'none' }, deny: true, id: 'no-forbidden' },
  { 'gw.pii': { categories: ['EMAIL_ADDRESS'], redact: true }, id: 'redact-mail' },
];
const output = [
  { 'default.contains': { words: ['launch code'], operator: 'none' }, deny: true, id: 'no-codes' },
  { 'default.regexReplace': { rule: 'sk-[a-z0-9]+', redactText: '[KEY]' }, id: 'redact-keys' },
];

onEachEngine('a batch between guardrails', (start) => {
  let provider: SimulatedProvider;
  let store: OpenAiBatches;
  let world: World;
  let client: OpenAI;
  let config: string;

  const clientOf = (headers: Record<string, string>) =>
    new OpenAI({
      apiKey: world.gateway.workspaceKey,
      baseURL: `${world.gateway.url}/v1`,
      maxRetries: 0,
      defaultHeaders: headers,
    });

  beforeAll(async () => {
    provider = await startProvider();
    world = await startWorld({ a: { provider: 'openai', simulated: provider } }, {}, start);
    await world.gateway.app.jobs.stop();
    config = await world.saveConfig({ provider: '@a', input_guardrails: input, output_guardrails: output });
    client = clientOf({ 'x-gw-config': config });
  });
  afterAll(async () => {
    await world.stop();
    await provider.stop();
  });
  beforeEach(() => {
    store = new OpenAiBatches();
    provider.calls.length = 0;
    provider.script(store.behaviour);
  });
  afterEach(async () => {
    // No batch of one test is looked at by the next.
    const { db } = storeOf(world.gateway);
    await db.updateTable('managed_batches').set({ status: 'failed' }).execute();
    expect(world.gateway.faults).toEqual([]);
  });

  const tick = async (seconds = 31) => {
    world.gateway.clock.advance({ seconds });
    await world.gateway.app.jobs.runOnce('managed-batches');
  };
  const upload = async (lines: readonly string[], by = client) =>
    by.files.create({ purpose: 'batch', file: await toFile(Buffer.from(lines.join('\n')), 'rows.jsonl') });
  const order = (input_file_id: string, by = client, more: object = {}) =>
    by.batches.create({ input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h', ...more });
  const linesOf = async (fileId: string | null | undefined): Promise<Json[]> => {
    const text = await (await client.files.content(fileId ?? '')).text();
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  };
  const asked = () => provider.calls.map(({ method, path }) => `${method} ${path}`);
  const answers = (texts: Record<string, string>) => (asking: Json) =>
    answered(asking, openai.completion(texts[asking.custom_id] ?? 'Fine.'));

  test('denied rows never reach the provider, others arrive rewritten, and answers are judged before they are read', async () => {
    const file = await upload([
      row('mail', 'write to anna@example.com'),
      row('bad', 'the forbidden word'),
      row('code', 'tell me'),
      row('key', 'and the key'),
    ]);
    expect(file.id).toStartWith('gw_file_');
    expect(asked()).toEqual([]);
    const batch: Json = await order(file.id, client, { metadata: { team: 'search' } });
    expect(batch).toMatchObject({ status: 'validating', input_file_id: file.id, metadata: { team: 'search' } });
    expect(batch.hook_results).toEqual({ before_request_hooks: [], after_request_hooks: [] });
    await tick();
    expect(asked()).toEqual(['POST /v1/files', 'POST /v1/batches']);
    expect(store.rows(store.id(1)).map(({ custom_id, body }) => [custom_id, body.messages[0].content])).toEqual([
      ['mail', 'write to {{EMAIL_ADDRESS_1}}'],
      ['code', 'tell me'],
      ['key', 'and the key'],
    ]);
    const running = await client.batches.retrieve(batch.id);
    expect(running.status).toBe('in_progress');
    expect(running.input_file_id).not.toBe(file.id);
    expect((await linesOf(running.input_file_id)).map(({ custom_id }) => custom_id)).toEqual(['mail', 'code', 'key']);
    expect(running.request_counts).toEqual({ total: 4, completed: 0, failed: 1 });
    await tick();
    expect((await client.batches.retrieve(batch.id)).status).toBe('in_progress');

    store.end(store.id(1), answers({ code: 'the launch code is 1234', key: 'it is sk-abc123, keep it' }));
    await tick();
    const done: Json = await client.batches.retrieve(batch.id);
    expect(done).toMatchObject({ status: 'completed', request_counts: { total: 4, completed: 2, failed: 2 } });
    expect(done.internal_output_file_id).toBe(store.batches.get(store.id(1))?.output_file_id);
    const good = await linesOf(done.output_file_id);
    expect(good.map(({ custom_id }) => custom_id)).toEqual(['mail', 'key']);
    expect(good[0].response).toMatchObject({ status_code: 200, request_id: 'req_mail' });
    expect(good[0].response.body.hook_results.before_request_hooks).toHaveLength(2);
    expect(good[1].response.body.choices[0].message.content).toBe('it is [KEY], keep it');
    const bad = await linesOf(done.error_file_id);
    expect(bad.map(({ custom_id, response }) => [custom_id, response.status_code])).toEqual([
      ['bad', 446],
      ['code', 446],
    ]);
    expect(bad[0].response.body.hook_results.before_request_hooks[0]).toMatchObject({ id: 'no-forbidden', deny: true });
    expect(JSON.stringify(bad)).not.toContain('1234');
    const logged = (await world.records(batch.id, 4)).filter(({ endpoint_type }) => endpoint_type === 'chatComplete');
    expect(logged.map(({ response_status_code }) => response_status_code).sort()).toEqual([200, 200, 446, 446]);
    expect(logged.every(({ guardrails }) => guardrails !== null)).toBe(true);
    expect(logged.filter(({ guardrails }) => guardrails?.denied)).toHaveLength(2);
  });

  test('what the provider wrote is read by nobody: not as a file, not as output, not through the raw proxy', async () => {
    const plain = clientOf({ 'x-gw-provider': '@a' });
    const file = await upload([row('one', 'tell me')]);
    const batch = await order(file.id);
    await tick();
    // It has ended there, and the gateway has not looked yet.
    store.end(store.id(1), answers({ one: 'the launch code is 1234' }));
    const raw: string = store.batches.get(store.id(1))?.output_file_id;
    const paths = [`/files/${raw}/content`, `/proxy/files/${raw}/content`, `/fi%6Ces/${raw}/content`];
    const statusOf = async (path: string) => {
      const answer = await fetch(`${world.gateway.url}/v1${path}`, {
        headers: { 'x-gw-api-key': world.gateway.workspaceKey, 'x-gw-provider': '@a' },
      });
      expect(await answer.text()).not.toContain('1234');
      return answer.status;
    };
    expect(await Promise.all(paths.map(statusOf))).toEqual([409, 409, 409]);
    // Other files can be read meanwhile.
    const other = store.keep('assistants', 'notes');
    expect(await (await plain.files.content(other)).text()).toBe('notes');
    await tick();
    expect(await Promise.all(paths.map(statusOf))).toEqual([403, 403, 403]);
    expect(await statusOf(`/batches/${store.id(1)}/output`)).toBe(403);
    const done: Json = await client.batches.retrieve(batch.id);
    expect(done.output_file_id).toBeNull();
    expect((await linesOf(done.error_file_id))[0].response.status_code).toBe(446);
    const kept = await clientOf({}).files.list();
    expect(kept.data.filter(({ filename }) => filename.includes('raw'))).toEqual([]);
  });

  test('rows that were uploaded to the provider before are fetched and checked', async () => {
    const atProvider = store.keep('batch', [row('good', 'hello'), row('bad', 'forbidden')].join('\n'));
    const batch = await order(atProvider);
    await tick();
    expect(store.rows(store.id(1)).map(({ custom_id }) => custom_id)).toEqual(['good']);
    expect(asked()[0]).toBe(`GET /v1/files/${atProvider}/content`);
    store.end(store.id(1), answers({}));
    await tick();
    expect((await client.batches.retrieve(batch.id)).request_counts).toEqual({ total: 2, completed: 1, failed: 1 });
  });

  test('a file at the provider that holds no rows fails the batch and says why', async () => {
    const batch = await order(store.keep('batch', '{"recordId": "1", "modelInput": {}}'));
    await tick();
    const failed = await client.batches.retrieve(batch.id);
    expect(failed.status).toBe('failed');
    expect(failed.errors?.data?.[0]?.message).toContain('upload the file through the gateway');
    expect(store.batches.size).toBe(0);
  });

  test('a strategy with one target is that target, with its guardrails', async () => {
    const strategy = await world.saveConfig({
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@a', input_guardrails: input }],
    });
    const by = clientOf({ 'x-gw-config': strategy });
    const file = await upload([row('good', 'hello'), row('bad', 'forbidden')], by);
    expect(file.id).toStartWith('gw_file_');
    expect((await order(file.id, by)).id).toStartWith('gw_batch_');
    await tick();
    expect(store.rows(store.id(1)).map(({ custom_id }) => custom_id)).toEqual(['good']);
    expect((await order(store.keep('batch', row('bad', 'forbidden')), by)).id).toStartWith('gw_batch_');
  });

  test('where every row is denied the provider is not asked', async () => {
    const batch = await order((await upload([row('bad', 'forbidden')])).id);
    await tick();
    expect(await client.batches.retrieve(batch.id)).toMatchObject({ status: 'completed', output_file_id: null });
    expect(asked()).toEqual([]);
  });

  test('the guardrails of a workspace apply to whoever names no config, and a config in the options counts too', async () => {
    const plain = clientOf({ 'x-gw-provider': '@a' });
    const file = await upload([row('good', 'hello'), row('bad', 'forbidden')], plain);
    expect(file.id).not.toStartWith('gw_');
    const batch = await order(file.id, plain, { gw_options: { 'x-gw-config': config } });
    expect(batch.id).toStartWith('gw_batch_');
    await tick();
    expect(store.rows(store.id(1)).map(({ custom_id }) => custom_id)).toEqual(['good']);

    const { workspaceId } = await workspaceOf();
    const saved = await world.gateway.post('/v1/guardrails', {
      name: 'Default',
      workspace_id: workspaceId,
      checks: [{ id: 'default.contains', parameters: { words: ['forbidden'], operator: 'none' } }],
      actions: { deny: true },
    });
    const setDefaults = (input_guardrails: string[]) =>
      world.gateway.put(`/v1/admin/workspaces/${workspaceId}`, { defaults: { input_guardrails } });
    expect((await setDefaults([saved.body.slug])).status).toBe(200);
    const kept = await upload([row('good', 'hello'), row('bad', 'forbidden')], plain);
    const guarded = await order(kept.id, plain);
    await tick();
    expect(store.rows(store.id(2)).map(({ custom_id }) => custom_id)).toEqual(['good']);
    expect((await setDefaults([])).status).toBe(200);
    await client.batches.cancel(guarded.id);
    await client.batches.cancel(batch.id);
    await tick();
  });

  const workspaceOf = async () => {
    const { body } = await world.gateway.get('/v1/workspaces');
    return { workspaceId: body.data[0].id };
  };

  test('a batch whose making was not answered is found again and not made twice', async () => {
    const batch = await order((await upload([row('one', 'hello')])).id);
    store.instead.set('POST /batches', async (call, response) => {
      // The provider makes it, and the connection breaks before it says so.
      const made = await fetch(`${provider.url}/batches`, {
        method: 'POST',
        headers: { authorization: 'Bearer x', 'content-type': 'application/json' },
        body: JSON.stringify(call.json),
      });
      expect(made.status).toBe(200);
      return reset(call, response);
    });
    await tick();
    await tick();
    expect(store.batches.size).toBe(1);
    expect((await client.batches.retrieve(batch.id)).status).toBe('in_progress');
    store.end(store.id(1), answers({}));
    await tick();
    expect((await client.batches.retrieve(batch.id)).status).toBe('completed');
  });

  test('a provider that refuses the rows or the batch fails it, in its own words', async () => {
    store.instead.set('POST /files', json(400, { error: { message: 'too many rows' } }));
    const unsent = await order((await upload([row('one', 'hello')])).id);
    await tick();
    const unsentNow = await client.batches.retrieve(unsent.id);
    expect([unsentNow.status as string, unsentNow.errors?.data?.[0]?.message]).toEqual([
      'file_upload_failed',
      expect.stringContaining('too many rows'),
    ]);
    store.instead.set('POST /batches', json(400, { error: { message: 'no quota' } }));
    const unmade = await order((await upload([row('one', 'hello')])).id);
    await tick();
    const unmadeNow = await client.batches.retrieve(unmade.id);
    expect([unmadeNow.status as string, unmadeNow.errors?.data?.[0]?.message]).toEqual([
      'batch_start_failed',
      expect.stringContaining('no quota'),
    ]);
  });

  test('a cancelled batch is cancelled there, and what was answered is checked', async () => {
    const batch = await order((await upload([row('one', 'a'), row('two', 'b')])).id);
    await tick();
    await client.batches.cancel(batch.id);
    await tick(1);
    expect(store.batches.get(store.id(1))?.status).toBe('cancelling');
    store.end(store.id(1), answers({ two: 'the launch code' }), 'cancelled');
    await tick();
    const done = await client.batches.retrieve(batch.id);
    expect(done).toMatchObject({ status: 'cancelled', request_counts: { completed: 1, failed: 1 } });
  });

  test('while answers are checked the batch says so, and a line that answers nothing is told to nobody', async () => {
    const { promise: asking, resolve: isAsked } = Promise.withResolvers<void>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const hook = await startProvider(async (call, response) => {
      isAsked();
      await released;
      return json(200, { verdict: true })(call, response);
    });
    const watched = await world.saveConfig({
      provider: '@a',
      output_guardrails: [{ 'default.webhook': { webhookURL: `${hook.url}/judge` }, deny: true }],
    });
    const by = clientOf({ 'x-gw-config': watched });
    const batch = await order((await upload([row('one', 'hi'), row('two', 'hi')], by)).id, by);
    await tick();
    store.end(store.id(1), (asked) =>
      asked.custom_id === 'two'
        ? answered({ custom_id: 'nobody' }, openai.completion('the launch code'))
        : answers({})(asked),
    );
    const checking = tick();
    await asking;
    expect((await by.batches.retrieve(batch.id)).status as string).toBe('processing_post_request_guardrails');
    release();
    await checking;
    const done = await by.batches.retrieve(batch.id);
    expect(done).toMatchObject({ status: 'completed', request_counts: { completed: 1, failed: 1 } });
    const [strange] = await linesOf(done.error_file_id);
    expect(strange).toMatchObject({ custom_id: 'nobody', response: null, error: { code: 'unknown_row' } });
    await hook.stop();
  });

  test('a step that fails is made again, and what was checked before is not asked about twice', async () => {
    const hook = await startProvider(json(200, { verdict: true }));
    const watch = [{ 'default.webhook': { webhookURL: `${hook.url}/judge` } }];
    const watched = await world.saveConfig({ provider: '@a', input_guardrails: watch, output_guardrails: watch });
    const by = clientOf({ 'x-gw-config': watched });
    const rows = Array.from({ length: 30 }, (_, index) => row(`row-${index}`, 'hi'));
    const batch = await order((await upload(rows, by)).id, by);
    store.instead.set('POST /files', json(500, { error: { message: 'overloaded' } }));
    await tick();
    expect((await by.batches.retrieve(batch.id)).status).toBe('validating');
    await tick();
    expect((await by.batches.retrieve(batch.id)).status).toBe('in_progress');
    expect(hook.calls).toHaveLength(30);
    store.end(store.id(1), answers({}));
    store.instead.set(`GET /files/${store.batches.get(store.id(1))?.output_file_id}/content`, reset);
    await tick();
    await tick();
    const done = await by.batches.retrieve(batch.id);
    expect(done).toMatchObject({ status: 'completed', request_counts: { total: 30, completed: 30, failed: 0 } });
    expect(hook.calls).toHaveLength(60);
    await hook.stop();
  });
});
