/** Batches that the gateway runs itself, with the OpenAI SDK: upload, run, read what came of it; interrupted, cancelled, refused. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import OpenAI, { toFile } from 'openai';
import { startApp } from '../../src/app.ts';
import { readEnvironment } from '../../src/environment.ts';
import { onEachEngine } from '../harness.ts';
import { storeOf } from '../people.ts';
import * as openai from '../providers/openai.ts';
import { type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

const row = (id: string, content: string, more: object = {}) =>
  JSON.stringify({
    custom_id: id,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: '@a/gpt-4o-mini', messages: [{ role: 'user', content }], ...more },
  });

/** The SDK's promises are none of the platform's own. */
const settled = async <T>(promise: PromiseLike<T>): Promise<T> => promise;

const rows = (count: number) => Array.from({ length: count }, (_, index) => row(`row-${index}`, `Question ${index}`));

onEachEngine('batches of the gateway', (start) => {
  let provider: SimulatedProvider;
  let world: World;
  let client: OpenAI;

  beforeAll(async () => {
    provider = await startProvider(openai.says('Answer'));
    world = await startWorld({ a: { provider: 'openai', simulated: provider } }, {}, start);
    // The test says when the job runs: by itself it would run beside it every five seconds.
    await world.gateway.app.jobs.stop();
    client = new OpenAI({ apiKey: world.gateway.workspaceKey, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
  });
  afterAll(async () => {
    await world.stop();
    await provider.stop();
  });
  beforeEach(() => {
    provider.calls.length = 0;
    provider.script(openai.says('Answer'));
  });
  afterEach(() => {
    expect(world.gateway.faults).toEqual([]);
  });

  const upload = async (lines: readonly string[]) =>
    client.files.create({ purpose: 'batch', file: await toFile(Buffer.from(lines.join('\n')), 'rows.jsonl') });
  const order = (input_file_id: string, more: object = {}) =>
    client.batches.create({ input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h', ...more });
  const tick = () => world.gateway.app.jobs.runOnce('managed-batches');
  const linesOf = async (fileId: string | null | undefined) => {
    const text = await (await client.files.content(fileId ?? '')).text();
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  };

  describe('a file', () => {
    test('is kept for its workspace, and comes back as it was', async () => {
      const lines = rows(3);
      const file = await upload(lines);
      expect(file).toMatchObject({ object: 'file', purpose: 'batch', filename: 'rows.jsonl', status: 'processed' });
      expect(file.bytes).toBe(lines.join('\n').length);
      expect(await client.files.retrieve(file.id)).toEqual(file);
      expect(await (await client.files.content(file.id)).text()).toBe(`${lines.join('\n')}\n`);
      const listed = await client.files.list({ purpose: 'batch' });
      expect(listed.data[0]).toEqual(file);
      expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: 'file', deleted: true });
      await expect(settled(client.files.retrieve(file.id))).rejects.toMatchObject({
        status: 404,
        code: 'file_not_found',
      });
    });

    test('of many pieces is kept whole', async () => {
      const lines = Array.from({ length: 400 }, (_, index) => row(`row-${index}`, 'é'.repeat(2_000)));
      const file = await upload(lines);
      expect(await (await client.files.content(file.id)).text()).toBe(`${lines.join('\n')}\n`);
    });

    test('with a line that is no request is refused, and nothing of it stays', async () => {
      const before = await client.files.list();
      const broken = [...rows(2), '{"custom_id": "x"}'];
      await expect(upload(broken)).rejects.toMatchObject({ status: 400, message: expect.stringContaining('line 3') });
      expect((await client.files.list()).data).toEqual(before.data);
    });

    test('may come before the word that says what it is for', async () => {
      const lines = rows(2);
      const file = await toFile(Buffer.from(lines.join('\n')), 'rows.jsonl');
      const kept = await client.files.create({ file, purpose: 'batch' });
      expect(kept).toMatchObject({ purpose: 'batch', status: 'processed' });
      expect(await (await client.files.content(kept.id)).text()).toBe(`${lines.join('\n')}\n`);
      const wrong = await toFile(Buffer.from('{"custom_id": "x"}'), 'rows.jsonl');
      await expect(settled(client.files.create({ file: wrong, purpose: 'batch' }))).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining('line 1'),
      });
    });

    test('without a purpose, or that is no form, is refused', async () => {
      const form = new FormData();
      form.append('file', new Blob([rows(1).join('')]), 'a.jsonl');
      const headers = { 'x-gw-api-key': world.gateway.workspaceKey };
      const unnamed = await fetch(`${world.gateway.url}/v1/files`, { method: 'POST', headers, body: form });
      expect(unnamed.status).toBe(400);
      expect(await unnamed.text()).toContain('purpose');
      const plain = await fetch(`${world.gateway.url}/v1/files`, { method: 'POST', headers, body: 'x' });
      expect(plain.status).toBe(400);
    });
  });

  describe('a batch', () => {
    test('runs every line as an ordinary call and writes what came of it', async () => {
      const file = await upload(rows(30));
      const batch = await order(file.id, { metadata: { team: 'search' } });
      expect(batch).toMatchObject({ object: 'batch', status: 'in_progress', metadata: { team: 'search' } });
      await tick();
      expect(provider.calls).toHaveLength(25);
      expect((await client.batches.retrieve(batch.id)).request_counts).toEqual({ total: 30, completed: 25, failed: 0 });
      await expect(settled(client.get(`/batches/${batch.id}/output`))).rejects.toMatchObject({ status: 409 });
      await tick();
      const done = await client.batches.retrieve(batch.id);
      expect(done).toMatchObject({ status: 'completed', error_file_id: null });
      expect(done.request_counts).toEqual({ total: 30, completed: 30, failed: 0 });
      const answers = await linesOf(done.output_file_id);
      expect(answers.map(({ custom_id }) => custom_id)).toEqual(rows(30).map((line) => JSON.parse(line).custom_id));
      expect(answers[0]).toMatchObject({
        error: null,
        response: { status_code: 200, body: openai.completion('Answer') },
      });
      const [asked] = provider.calls;
      expect(asked?.headers.authorization).toBe('Bearer sk-a-secret');
      expect(JSON.stringify(asked?.headers)).not.toContain('stand-in');
      const logged = await world.records(batch.id, 30);
      expect(new Set(logged.map(({ ai_model }) => ai_model))).toEqual(new Set(['gpt-4o-mini']));
    });

    test("keeps the lines that fail apart, with the provider's words", async () => {
      provider.script(openai.says('Answer'), openai.contextOverflow, openai.says('Answer'));
      const batch = await order((await upload(rows(3))).id);
      await tick();
      const done = await client.batches.retrieve(batch.id);
      expect(done).toMatchObject({ status: 'completed', request_counts: { total: 3, completed: 2, failed: 1 } });
      expect(await linesOf(done.output_file_id)).toHaveLength(2);
      const [failed] = await linesOf(done.error_file_id);
      expect(failed.response).toMatchObject({ status_code: 400, body: { error: { code: 'context_length_exceeded' } } });
    });

    test('sends each line with the options that it was ordered with', async () => {
      const line = row('only', 'Hi', { model: 'gpt-4o-mini' });
      const batch = await order((await upload([line])).id, { gw_options: { 'x-gw-provider': '@a' } });
      await tick();
      expect((await client.batches.retrieve(batch.id)).request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
    });

    test('for a provider that has none is run by the gateway in its place', async () => {
      const sandbox = client.withOptions({ defaultHeaders: { 'x-gw-provider': '@sandbox' } });
      const line = row('only', 'Hi', { model: 'echo' });
      const file = await sandbox.files.create({
        purpose: 'batch',
        file: await toFile(Buffer.from(line), 'rows.jsonl'),
      });
      const batch = await sandbox.batches.create({
        input_file_id: file.id,
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
      });
      await tick();
      const [answer] = await linesOf((await client.batches.retrieve(batch.id)).output_file_id);
      expect(answer.response).toMatchObject({ status_code: 200, body: { model: 'echo' } });
    });

    test('keeps what a line was answered while others are still under way', async () => {
      const gate = Promise.withResolvers<void>();
      provider.script(openai.says('Answer'), async (call, response) => {
        await gate.promise;
        return openai.says('Answer')(call, response);
      });
      const batch = await order((await upload(rows(2))).id);
      const running = tick();
      const kept = async () =>
        storeOf(world.gateway)
          .db.selectFrom('managed_batch_rows')
          .select('line')
          .where('batch_id', '=', batch.id)
          .execute();
      while ((await kept()).length === 0) await new Promise((resolve) => setImmediate(resolve));
      expect(await kept()).toHaveLength(1);
      gate.resolve();
      await running;
      expect(await client.batches.retrieve(batch.id)).toMatchObject({ status: 'completed' });
    });

    test('asks again only for what a kill left unanswered', async () => {
      const batch = await order((await upload(rows(30))).id);
      await tick();
      const { db } = storeOf(world.gateway);
      await db.deleteFrom('managed_batch_rows').where('batch_id', '=', batch.id).where('line', 'in', [3, 20]).execute();
      await tick();
      expect(provider.calls.slice(25).map(({ json }) => json.messages[0].content)).toEqual(
        expect.arrayContaining(['Question 3', 'Question 20', 'Question 29']),
      );
      expect(provider.calls).toHaveLength(32);
      const done = await client.batches.retrieve(batch.id);
      expect(done.request_counts).toEqual({ total: 30, completed: 30, failed: 0 });
      const answers = await linesOf(done.output_file_id);
      expect(answers.map(({ custom_id }) => custom_id)).toEqual(rows(30).map((line) => JSON.parse(line).custom_id));
    });

    test('that is cancelled runs no further line and keeps what it has', async () => {
      const batch = await order((await upload(rows(40))).id);
      await tick();
      expect((await client.batches.cancel(batch.id)).status).toBe('cancelling');
      await tick();
      const done = await client.batches.retrieve(batch.id);
      expect(done.status).toBe('cancelled');
      expect(await linesOf(done.output_file_id)).toHaveLength(25);
      expect(provider.calls).toHaveLength(25);
      expect((await client.batches.cancel(batch.id)).status).toBe('cancelled');
    });

    test('that is not done within its day expires with what it has', async () => {
      const batch = await order((await upload(rows(30))).id);
      await tick();
      world.gateway.clock.advance({ hours: 25 });
      await tick();
      const done = await client.batches.retrieve(batch.id);
      expect(done.status).toBe('expired');
      expect(await linesOf(done.output_file_id)).toHaveLength(25);
    });

    test('of a file that is not there, or for another endpoint than its lines, is refused', async () => {
      await expect(settled(order('gw_file_none'))).rejects.toMatchObject({ status: 400 });
      const file = await upload(rows(1));
      await expect(settled(order(file.id, { endpoint: '/v1/embeddings' }))).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining('line 1'),
      });
      await expect(settled(order(file.id, { endpoint: '/v1/nothing' }))).rejects.toMatchObject({ status: 400 });
    });

    test('is listed, newest first, a page at a time', async () => {
      const file = await upload(rows(1));
      const made = [await order(file.id), await order(file.id), await order(file.id)].map(({ id }) => id).reverse();
      const page = await client.batches.list({ limit: 2 });
      expect(page.data.map(({ id }) => id)).toEqual(made.slice(0, 2));
      expect(page.has_more).toBe(true);
      const raw = await client.batches.list({ limit: 2 }).asResponse();
      expect(await raw.json()).toMatchObject({ first_id: made[0], last_id: made[1] });
      const next = await client.batches.list({ limit: 2, after: made[1] ?? '' });
      expect(next.data[0]?.id).toBe(made[2] ?? '');
      await tick();
    });

    test('names a processed output when it is told one, and only of its own workspace', async () => {
      const { gateway } = world;
      const file = await upload(rows(1));
      const batch = await order(file.id);
      const path = `/v2/batches/${batch.id}`;
      const put = await gateway.put(path, { internal_output_file_id: file.id }, { key: gateway.workspaceKey });
      expect(put).toMatchObject({ status: 200, body: { id: batch.id, internal_output_file_id: file.id } });
      expect(await client.batches.retrieve(batch.id)).toMatchObject({ internal_output_file_id: file.id });
      const wrong = await gateway.put(path, { internal_output_file_id: 'gw_file_x' }, { key: gateway.workspaceKey });
      expect(wrong.status).toBe(400);
      const none = await gateway.put('/v2/batches/gw_batch_x', {}, { key: gateway.workspaceKey });
      expect(none.status).toBe(404);
      await tick();
    });
  });
});

onEachEngine('answers that the store did not take', (start) => {
  test('are kept when it is back, and no line is asked twice', async () => {
    const provider = await startProvider();
    const world = await startWorld({ a: { provider: 'openai', simulated: provider } }, {}, start);
    const { gateway } = world;
    await gateway.app.jobs.stop();
    const { schema } = storeOf(gateway).db;
    const away = () => schema.alterTable('managed_batch_rows').renameTo('somewhere_else').execute();
    const back = () => schema.alterTable('somewhere_else').renameTo('managed_batch_rows').execute();
    const tick = () => gateway.app.jobs.runOnce('managed-batches');
    provider.script(async (call, response) => {
      await away();
      return openai.says('Answer')(call, response);
    }, openai.says('Answer'));
    const client = new OpenAI({ apiKey: gateway.workspaceKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const file = await toFile(Buffer.from(rows(1).join('\n')), 'rows.jsonl');
    const { id } = await client.files.create({ purpose: 'batch', file });
    const asked = { endpoint: '/v1/chat/completions', completion_window: '24h' } as const;
    const batch = await client.batches.create({ input_file_id: id, ...asked });
    await tick();
    expect(gateway.faults.splice(0)).toEqual([expect.stringContaining('managed-batches failed')]);
    await tick();
    expect(gateway.faults.splice(0)).toEqual([expect.stringContaining('managed-batches failed')]);
    await back();
    await tick();
    const done = await client.batches.retrieve(batch.id);
    expect(done).toMatchObject({ status: 'completed', request_counts: { total: 1, completed: 1, failed: 0 } });
    expect(provider.calls).toHaveLength(1);
    await gateway.stopWithoutFaults();
    await provider.stop();
  });
});

test('a batch goes on after a restart where it stood', async () => {
  const provider = await startProvider(openai.says('Answer'));
  const world = await startWorld({ a: { provider: 'openai', simulated: provider } });
  const { gateway } = world;
  await gateway.app.jobs.stop();
  const client = (url: string) => new OpenAI({ apiKey: gateway.workspaceKey, baseURL: `${url}/v1`, maxRetries: 0 });
  const before = client(gateway.url);
  const lines = rows(30).join('\n');
  const file = await before.files.create({ purpose: 'batch', file: await toFile(Buffer.from(lines), 'rows.jsonl') });
  const { id } = await before.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  });
  await gateway.app.jobs.runOnce('managed-batches');
  await gateway.app.stop();
  const again = await startApp(
    readEnvironment({ PORT: '0', GW_DATA_DIR: gateway.dataDir, TRUSTED_CUSTOM_HOSTS: '127.0.0.1' }),
  );
  try {
    await again.jobs.runOnce('managed-batches');
    const done = await client(again.url).batches.retrieve(id);
    expect(done).toMatchObject({ status: 'completed', request_counts: { total: 30, completed: 30, failed: 0 } });
    expect(provider.calls).toHaveLength(30);
  } finally {
    await again.stop();
    await provider.stop();
  }
});
