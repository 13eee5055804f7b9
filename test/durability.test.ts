/** What was acknowledged stays: a kill in the middle of writes, a stop in the middle of requests. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { onEachEngine } from './harness.ts';
import { storedLogRows } from './log-rows.ts';
import { addKey, addPerson, home, storeOf } from './people.ts';
import { type Served, serve } from './process.ts';

const create = (served: Served, name: string) =>
  fetch(`${served.url}/v1/workspaces`, {
    method: 'POST',
    headers: { 'x-gw-api-key': served.adminKey, 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  });

const allNames = async (url: string, key: string): Promise<string[]> => {
  const answer = await fetch(`${url}/v1/workspaces?page_size=1000`, { headers: { 'x-gw-api-key': key } });
  const { data } = (await answer.json()) as { data: { name: string }[] };
  return data.map((workspace) => workspace.name);
};

test('kill -9 in the middle of writes loses no acknowledged write and leaves no half of one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-kill-'));
  let served = await serve({ GW_DATA_DIR: folder });
  const { adminKey } = served;
  const acknowledged: string[] = [];
  for (let round = 0; round < 3; round++) {
    const target = served;
    let killed = false;
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let number = 0; !killed; number++) {
        const name = `round ${round} writer ${writer} number ${number}`;
        try {
          const answer = await create({ ...target, adminKey }, name);
          if (answer.status === 200) acknowledged.push(name);
          await answer.body?.cancel();
        } catch {
          return; // The process is gone: this write was not acknowledged.
        }
        if (acknowledged.length >= (round + 1) * 40) {
          killed = true;
          target.kill('SIGKILL');
        }
      }
    });
    await Promise.all(writers);
    await target.ended;
    served = await serve({ GW_DATA_DIR: folder });
    const names = await allNames(served.url, adminKey);
    expect(acknowledged.filter((name) => !names.includes(name))).toEqual([]);
  }
  const audited = await fetch(
    `${served.url}/v1/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2020-01-02T00:00:00Z&page_size=0`,
    { headers: { 'x-gw-api-key': adminKey } },
  );
  expect(audited.status).toBe(200);
  const names = await allNames(served.url, adminKey);
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const rows = await fetch(
    `${served.url}/v1/audit-logs?start_time=${from}&end_time=${until}&resource_type=workspace&action=create&page_size=0`,
    { headers: { 'x-gw-api-key': adminKey } },
  );
  // One audit row for each workspace that was made over HTTP; the first one came with the organisation.
  expect(((await rows.json()) as { total: number }).total).toBe(names.length - 1);
  served.kill('SIGTERM');
  expect(await served.ended).toBe(0);
  rmSync(folder, { recursive: true, force: true });
});

test('SIGTERM finishes the requests under way and exits 0', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-term-'));
  const served = await serve({ GW_DATA_DIR: folder });
  // Signing in hashes a password, so these are under way when the signal arrives.
  const signIns = Array.from({ length: 20 }, () =>
    fetch(`${served.url}/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'nobody@example.com', password: 'not the password' }),
    }),
  );
  await Promise.race(signIns);
  served.kill('SIGTERM');
  const statuses = (await Promise.all(signIns)).map((answer) => answer.status);
  expect(statuses.every((status) => status === 401 || status === 429)).toBe(true);
  expect(await served.ended).toBe(0);
  rmSync(folder, { recursive: true, force: true });
});

test('SIGTERM lets an open stream come to its end', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-stream-'));
  const served = await serve({ GW_DATA_DIR: folder });
  const response = await fetch(`${served.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-gw-api-key': served.workspaceKey, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: '@sandbox/echo+words=20+pace=40',
      stream: true,
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  });
  let text = '';
  for await (const chunk of response.body ?? []) {
    if (text === '') served.kill('SIGTERM');
    text += new TextDecoder().decode(chunk);
  }
  expect(text).toContain('word20');
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  expect(await served.ended).toBe(0);
  expect(storedLogRows(folder)).toBe(1);
  rmSync(folder, { recursive: true, force: true });
});

onEachEngine('what is slow to prepare', (start) => {
  test('happens together with its audit row or not at all', async () => {
    const gateway = await start();
    const { organisationId } = await home(gateway);
    const { db } = storeOf(gateway);
    const password = 'correct horse battery';
    const person = await addPerson(gateway, organisationId, 'member', { password });
    const invited = await gateway.post('/v1/users/invites', { email: 'guest@example.com', role: 'member' });
    const token = String(invited.body.invite_link).split('/').at(-1);
    const signIn = () => gateway.post('/v1/auth/login', { email: person.email, password }, { key: '' });
    const change = () => {
      const body = { current_password: password, new_password: 'another long password' };
      return gateway.put('/v1/auth/password', body, { key: person.session });
    };
    const accept = () => {
      const body = { password, first_name: 'Grace', last_name: 'Hopper' };
      return gateway.post(`/v1/invites/${token}/accept`, body, { key: '' });
    };
    const state = async () => ({
      sessions: await db.selectFrom('sessions').select('id').orderBy('id').execute(),
      people: await db.selectFrom('users').select(['id', 'last_updated_at']).orderBy('id').execute(),
      passwords: await db.selectFrom('user_passwords').selectAll().orderBy('user_id').execute(),
      members: await db.selectFrom('organisation_members').selectAll().orderBy('user_id').execute(),
      invites: await db.selectFrom('invites').selectAll().execute(),
    });
    const before = await state();

    // An audit trail that takes no rows stands for a crash just before the row.
    await sql`alter table audit_logs rename to audit_logs_elsewhere`.execute(db);
    const refused = await Promise.all([signIn(), change(), accept()]);
    expect(refused.map(({ status }) => status)).toEqual([500, 500, 500]);
    expect(await state()).toEqual(before);

    await sql`alter table audit_logs_elsewhere rename to audit_logs`.execute(db);
    // The password counts until it is changed.
    const done = [await signIn(), await change(), await accept()];
    expect(done.map(({ status }) => status)).toEqual([200, 200, 200]);
    const rows = await db
      .selectFrom('audit_logs')
      .select(['action', 'resource_type'])
      .where('response_status_code', '=', 200)
      .where('resource_type', 'in', ['user', 'invite'])
      .execute();
    expect(rows).toContainEqual({ action: 'login', resource_type: 'user' });
    expect(rows).toContainEqual({ action: 'update', resource_type: 'invite' });
    await gateway.stop();
  });
});

onEachEngine('a clock that jumps', (start) => {
  test('forward ends what has an end, back makes it count again, and the service serves all along', async () => {
    const gateway = await start({ ADMIN_RATE_LIMIT: '1000', ADMIN_SENSITIVE_RATE_LIMIT: '1000' });
    const { organisationId, workspaceId, owner } = await home(gateway);
    const tomorrow = new Date(gateway.clock.now().getTime() + 86_400_000).toISOString();
    const key = { organisationId, workspaceId, type: 'workspace-service', scopes: ['completions.write'] } as const;
    const ending = await addKey(gateway, { ...key, expiresAt: tomorrow });
    const call = async (secret: string) => (await gateway.get('/v1/models', { key: secret })).status;
    const self = async () => (await gateway.get('/v1/auth/self', { key: owner.session })).status;
    const serves = async (name: string) => {
      const login = await gateway.post('/v1/auth/login', gateway.owner, { key: '' });
      const made = await gateway.post('/v1/workspaces', { name });
      return [
        login.status,
        made.status,
        (await gateway.get('/v1/workspaces')).status,
        await call(gateway.workspaceKey),
      ];
    };
    expect([await call(ending.secret), await self()]).toEqual([200, 200]);
    gateway.clock.advance({ days: 800 });
    expect([await call(ending.secret), await self()]).toEqual([401, 401]);
    expect(await serves('in the future')).toEqual([200, 200, 200, 200]);
    gateway.clock.advance({ days: -1600 });
    expect(await serves('in the past')).toEqual([200, 200, 200, 200]);
    gateway.clock.advance({ days: 800 });
    expect([await call(ending.secret), await self()]).toEqual([200, 200]);
    expect(await serves('now')).toEqual([200, 200, 200, 200]);
    await gateway.stopWithoutFaults();
  });
});
