/** Batches of several organisations, run against a provider that answers only some. */
import { afterAll, expect, test } from 'bun:test';
import { startGateway } from '../../test/harness.ts';
import { createManagedFiles, FileFault } from './files.ts';
import type { GuardedCalls } from './guarded-calls.ts';
import { createBatchRunner } from './run.ts';
import { openBatchService } from './service.ts';

const gateway = await startGateway();
afterAll(() => gateway.stopWithoutFaults());
const { store, vault, clock, limits: ledger } = gateway.app.services;
const gigabyte = 1024 ** 3;

async function organisation(name: string) {
  const { db } = store;
  const like = await db.selectFrom('organisations').selectAll().executeTakeFirstOrThrow();
  const workspace = await db.selectFrom('workspaces').selectAll().executeTakeFirstOrThrow();
  const owner = { organisationId: name, workspaceId: `w-${name}` };
  await db
    .insertInto('organisations')
    .values({ ...like, id: name, slug: name })
    .execute();
  await db
    .insertInto('workspaces')
    .values({ ...workspace, id: owner.workspaceId, organisation_id: name, slug: name })
    .execute();
  return owner;
}

const row = JSON.stringify({ custom_id: 'r', method: 'POST', url: '/v1/chat/completions', body: { model: 'm' } });
const rows = async function* (text = row) {
  yield Buffer.from(`${text}\n`);
};

/** For batches that no provider runs. */
const unasked: GuardedCalls = {
  atProvider: async () => null,
  checkInput: async () => null,
  checkOutput: async () => null,
};

test('a sleeping provider of one organisation holds up no batch of another', async () => {
  const { files, batches } = openBatchService(store, vault, clock, gigabyte);
  const made: Record<string, string> = {};
  for (const name of ['sleepy', 'awake']) {
    const owner = await organisation(name);
    const file = await files.write(owner, { filename: 'rows.jsonl', purpose: 'batch' }, rows());
    const batch = { inputFileId: file.id, endpoint: '/v1/chat/completions', completionWindow: '24h' };
    made[name] = (
      await batches.create(owner, { keyId: `key-${name}`, grant: null }, { ...batch, options: {}, metadata: null })
    ).id;
  }
  const { promise: woken, resolve: wake } = Promise.withResolvers<void>();
  let asleep = 0;
  const runner = createBatchRunner({
    store,
    vault,
    clock,
    files,
    ledger,
    async call({ keyId }) {
      if (keyId === 'key-sleepy') {
        asleep++;
        await woken;
      }
      return Response.json({ ok: true });
    },
    guarded: unasked,
    pause: async () => undefined,
    timeoutMs: 1,
    holder: 'here',
  });
  const statusOf = async (name: string) => {
    const found = store.db
      .selectFrom('managed_batches')
      .select('status')
      .where('id', '=', made[name] ?? '');
    return (await found.executeTakeFirstOrThrow()).status;
  };
  // Each round ends although one of the batches does not.
  while ((await statusOf('awake')) !== 'completed') await runner.round();
  expect(await statusOf('sleepy')).toBe('in_progress');
  // Another node leaves alone what is under way here.
  const elsewhere = createBatchRunner({
    store,
    vault,
    clock,
    files,
    ledger,
    call: async () => Response.json({ ok: false }),
    guarded: unasked,
    pause: async () => undefined,
    timeoutMs: 1_000,
    holder: 'elsewhere',
  });
  await elsewhere.round();
  expect([await statusOf('sleepy'), asleep]).toEqual(['in_progress', 1]);
  wake();
  await runner.ended();
  expect(await statusOf('sleepy')).toBe('completed');
});

test.each([
  ['a budget that running calls hold', { 'retry-after': '1' }, [0, 2]],
  ['a budget that is used up', { 'retry-after': '86400' }, [1, 1]],
  ['a budget that never resets', {}, [1, 1]],
] as const)('a row that is refused by %s', async (name, headers, [failed, asked]) => {
  const { files, batches } = openBatchService(store, vault, clock, gigabyte);
  const owner = await organisation(name);
  const file = await files.write(owner, { filename: 'rows.jsonl', purpose: 'batch' }, rows());
  const { id } = await batches.create(
    owner,
    { keyId: `key-${name}`, grant: null },
    {
      inputFileId: file.id,
      endpoint: '/v1/chat/completions',
      completionWindow: '24h',
      options: {},
      metadata: null,
    },
  );
  const statuses = [412, 200];
  let calls = 0;
  const runner = createBatchRunner({
    store,
    vault,
    clock,
    files,
    ledger,
    async call({ keyId }) {
      if (keyId !== `key-${name}`) return Response.json({});
      return Response.json({}, { status: statuses[calls++] ?? 200, headers });
    },
    guarded: unasked,
    pause: async () => undefined,
    timeoutMs: 1_000,
    holder: 'here',
  });
  const look = () => store.db.selectFrom('managed_batches').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  while ((await look()).status !== 'completed') await runner.round();
  expect([(await look()).failed, calls]).toEqual([failed, asked]);
});

test('the files of a workspace have a quota together, whoever comes first', async () => {
  const owner = await organisation('full');
  const files = createManagedFiles(store, vault, clock, 1_000);
  const upload = (length: number) =>
    files.write(owner, { filename: 'a.jsonl', purpose: 'user_data' }, rows(JSON.stringify({ a: 'x'.repeat(length) })));
  const first = await upload(500);
  await expect(upload(600)).rejects.toThrow(FileFault);
  await files.requireRoom(owner);
  const both = await Promise.allSettled([upload(300), upload(300)]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await files.remove(owner, first.id);
  await upload(500);
});
