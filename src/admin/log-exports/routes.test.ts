import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Json, startGateway, type TestGateway } from '../../../test/harness.ts';
import { jsonMessage, logRecord } from '../../../test/log-records.ts';
import { addKey, addOrganisation, addPerson, addWorkspace, home } from '../../../test/people.ts';
import { runExport } from '../../jobs/log-exports.ts';

let gateway: TestGateway;
let place: Awaited<ReturnType<typeof home>>;
beforeAll(async () => {
  gateway = await startGateway();
  place = await home(gateway);
  for (let at = 0; at < 1_200; at++) {
    const where = { organisation_id: place.organisationId, workspace_id: place.workspaceId };
    const more = {
      created_at: Date.now() - at * 1_000,
      cost: at / 8,
      trace_id: `t-${at}`,
      user_id: at % 3 === 0 ? place.owner.userId : null,
    };
    gateway.app.services.logs.append(
      logRecord(
        { ...where, ...more, id: Bun.randomUUIDv7() },
        { request: jsonMessage({ at }), response: jsonMessage({ said: at }) },
      ),
    );
  }
  await gateway.app.services.logs.settled();
});
afterAll(() => gateway.stopWithoutFaults());

const base = '/v1/logs/exports';
const make = async (body: object = {}, key?: string) =>
  gateway.post(base, { filters: {}, requested_data: ['id', 'cost', 'created_at'], ...body }, key ? { key } : {});
const read = (id: string) => gateway.get(`${base}/${id}`);
const run = () => gateway.app.jobs.runOnce('export-runner');

async function lines(id: string): Promise<Json[]> {
  const { body } = await gateway.get(`${base}/${id}/download`);
  const response = await fetch(body.signed_url);
  expect(response.status).toBe(200);
  return (await response.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('an export', () => {
  test('goes from draft to success, and its file holds exactly what was asked for, newest first', async () => {
    const made = await make({
      filters: { cost_max: 100 },
      requested_data: ['trace_id', 'cost', 'request', 'total_tokens'],
    });
    expect([made.status, made.body]).toEqual([200, { id: expect.any(String), total: 801, object: 'export' }]);
    const { id } = made.body;
    expect((await read(id)).body).toMatchObject({ status: 'draft', total_records: 801, object: 'export', progress: 0 });
    expect((await gateway.get(`${base}/${id}/download`)).status).toBe(400);
    expect((await gateway.post(`${base}/${id}/start`)).body.object).toBe('export');
    expect((await gateway.post(`${base}/${id}/start`)).status).toBe(409);
    await run();
    expect((await read(id)).body).toMatchObject({ status: 'success', progress: 100, total_records: 801 });
    const rows = await lines(id);
    expect(rows).toHaveLength(801);
    expect(rows[0]).toEqual({ trace_id: 't-0', cost: 0, request: { at: 0 }, total_units: 15 });
    expect(new Set(rows.map((row) => row.trace_id)).size).toBe(801);
    const cost = await gateway.get(`/v1/analytics/groups/workspace?columns=cost&cost_max=100`);
    expect(rows.reduce((sum, row) => sum + row.cost, 0)).toBeCloseTo(cost.body.data[0].cost, 9);
  });

  test('is found by any part of its description, in any case', async () => {
    await make({ description: 'For the auditors: 100% of März' });
    await make();
    for (const [part, count] of [
      ['AUDITORS', 1],
      ['100% of m', 1],
      ['nowhere', 0],
    ] as const) {
      const { body } = await gateway.get(`${base}?search=${encodeURIComponent(part)}`);
      expect([part, body.total, body.data.length]).toEqual([part, count, count]);
    }
  });

  test('can be stopped, changed and started again, and survives a stop of the program in its middle', async () => {
    const { body } = await make();
    await gateway.post(`${base}/${body.id}/start`);
    expect((await gateway.put(`${base}/${body.id}`, { filters: {} })).status).toBe(409);
    expect((await gateway.post(`${base}/${body.id}/cancel`)).status).toBe(200);
    expect((await read(body.id)).body.status).toBe('stopped');
    await run();
    expect((await read(body.id)).body.status).toBe('stopped');
    const changed = await gateway.put(`${base}/${body.id}`, { filters: { trace_id: 't-5,t-7' } });
    expect(changed.body.total).toBe(2);
    // What was in progress when a process ended is in progress still, and the next run begins it anew.
    await gateway.post(`${base}/${body.id}/start`);
    await run();
    expect(await lines(body.id)).toHaveLength(2);
    expect((await gateway.post(`${base}/${body.id}/cancel`)).status).toBe(409);
  });

  test('that is cancelled while it is written leaves no file, and files without an export are swept', async () => {
    const { body } = await make();
    await gateway.post(`${base}/${body.id}/start`);
    const row = await gateway.app.services.store.db
      .selectFrom('log_exports')
      .selectAll()
      .where('id', '=', body.id)
      .executeTakeFirstOrThrow();
    await gateway.post(`${base}/${body.id}/cancel`);
    await runExport(gateway.app.services, row);
    const folder = join(gateway.dataDir, 'exports');
    const file = join(folder, `${body.id}.jsonl`);
    expect([existsSync(file), existsSync(`${file}.part`)]).toEqual([false, false]);
    expect((await read(body.id)).body.status).toBe('stopped');
    const stray = join(folder, `${Bun.randomUUIDv7()}.jsonl`);
    writeFileSync(stray, '');
    const kept = await make({ filters: { trace_id: 't-2' } });
    await gateway.post(`${base}/${kept.body.id}/start`);
    await run();
    await gateway.app.jobs.runOnce('export-sweep');
    expect(existsSync(stray)).toBe(false);
    expect(await lines(kept.body.id)).toHaveLength(1);
  });

  test('is audited by what was done with it', async () => {
    const { body } = await make({ filters: { trace_id: 't-3' } });
    await gateway.put(`${base}/${body.id}`, { filters: { trace_id: 't-4' } });
    await gateway.post(`${base}/${body.id}/start`);
    await gateway.post(`${base}/${body.id}/cancel`);
    const { rows } = {
      rows: await gateway.app.services.store.db
        .selectFrom('audit_logs')
        .select('action')
        .where('resource_id', '=', body.id)
        .where('resource_type', '=', 'log_export')
        .orderBy('id')
        .execute(),
    };
    expect(rows.map(({ action }) => action)).toEqual(['create', 'update', 'export', 'manage']);
  });

  test('over several workspaces leaves out what any of them forbids', async () => {
    await gateway.put('/v1/admin/organisation/workspace-overrides', { export_settings: true });
    const other = await addWorkspace(gateway, place.organisationId, 'Careful');
    const own = await gateway.put(`/v1/admin/workspaces/${other.id}/settings`, {
      export_settings: { deniedFields: ['cost'] },
    });
    expect(own.status).toBe(200);
    const everywhere = await make();
    expect(everywhere).toMatchObject({
      status: 403,
      body: { data: { errors: [{ location: 'body', path: 'requested_data' }] } },
    });
    expect((await make({ workspace_id: place.workspaceId })).status).toBe(200);
    expect((await make({ workspace_id: other.id })).status).toBe(403);
    await gateway.put('/v1/admin/organisation/workspace-overrides', { export_settings: false });
  });

  test('settings refuse fields that no export has', async () => {
    for (const deniedFields of [['colour'], ['total_tokens'], ['is_success'], ['mode']]) {
      const { status, body } = await gateway.put('/v1/admin/organisation/settings', {
        export_settings: { deniedFields },
      });
      expect([status, body.data.errors[0].path]).toEqual([400, 'export_settings.deniedFields.0']);
    }
  });

  test('holds no bodies where the role may not see them, and is told so beforehand', async () => {
    const { userId, session } = await addPerson(gateway, place.organisationId, 'member', {
      workspaces: { [place.workspaceId]: 'manager' },
    });
    const { secret } = await addKey(gateway, { ...place, type: 'workspace-user', userId, scopes: ['logs.export'] });
    const admin = await addPerson(gateway, place.organisationId, 'admin');
    const settings = (on: boolean) =>
      gateway.put('/v1/admin/organisation/settings', {
        security_settings: { managersViewLogs: on, organisationAdminsViewLogs: on },
      });
    for (const key of [session, secret, admin.session]) {
      const restrictions = async () => (await gateway.get(`${base}/field-restrictions`, { key })).body.deniedFields;
      expect(await restrictions()).toEqual([]);
      await settings(false);
      expect(await restrictions()).toEqual(['request', 'response']);
      const refused = await make({ requested_data: ['id', 'request'] }, key);
      expect([refused.status, refused.body.data.errors[0].path]).toEqual([403, 'requested_data']);
      const { status, body } = await make({ requested_data: ['id', 'cost'] }, key);
      expect(status).toBe(200);
      // What was asked for while bodies were seen is not started once they are not.
      await settings(true);
      const early = await make({ requested_data: ['id', 'request'] }, key);
      await settings(false);
      expect((await gateway.post(`${base}/${early.body.id}/start`, undefined, { key })).status).toBe(403);
      expect((await gateway.post(`${base}/${body.id}/start`, undefined, { key })).status).toBe(200);
      await settings(true);
    }
    await run();
  });

  test('is cut into pages', async () => {
    const { body } = await make({ filters: { page_size: 500, current_page: 2 } });
    expect(body.total).toBe(200);
    await gateway.post(`${base}/${body.id}/start`);
    await run();
    expect(await lines(body.id)).toHaveLength(200);
  });

  test('has links that cannot be made up and expire', async () => {
    const { body } = await make({ filters: { trace_id: 't-1' } });
    await gateway.post(`${base}/${body.id}/start`);
    await run();
    const { signed_url } = (await gateway.get(`${base}/${body.id}/download`)).body;
    expect((await fetch(signed_url.replace(/token=../, 'token=AA'))).status).toBe(401);
    expect((await fetch(signed_url.replace(body.id, Bun.randomUUIDv7()))).status).toBe(401);
    gateway.clock.advance({ hours: 2 });
    expect((await fetch(signed_url)).status).toBe(401);
    gateway.clock.advance({ days: 8 });
    await gateway.app.jobs.runOnce('export-sweep');
    expect((await gateway.get(`${base}/${body.id}/download`)).status).toBe(404);
  });

  test.each([
    [{ requested_data: [] }, 'requested_data'],
    [{ requested_data: ['colour'] }, 'requested_data.0'],
    [{ filters: { cost_min: 'cheap' } }, 'filters.cost_min'],
    [{ filters: { page_size: 0 } }, 'filters.page_size'],
    [{ filters: { time_of_generation_min: 'today' } }, 'filters.time_of_generation_min'],
    [{ filters: { time_of_generation_min: '2020-01-01T00:00:00Z' } }, 'filters.time_of_generation_min'],
    [{ filters: { created_at: { gte: 'today' } } }, 'filters.created_at.gte'],
    [{ filters: { created_at: { gte: '2020-01-01T00:00:00Z' } } }, 'filters.created_at.gte'],
    [
      { filters: { created_at: { gte: '2026-02-01T00:00:00Z', lte: '2026-01-01T00:00:00Z' } } },
      'filters.created_at.lte',
    ],
    [{ filters: { total_units_min: 2, total_units_max: 1 } }, 'filters.total_units_max'],
    [{ filters: { current_page: -1 } }, 'filters.current_page'],
  ])('is refused with %j, by name', async (wrong, field) => {
    const { status, body } = await make(wrong);
    expect([status, body.data.errors[0].path]).toEqual([400, field]);
  });

  test('shows a member own calls alone, hides it from others, and keeps forbidden fields', async () => {
    const member = await addPerson(gateway, place.organisationId, 'member', {
      workspaces: { [place.workspaceId]: 'manager' },
    });
    const theirs = await addOrganisation(gateway);
    const { body } = await make();
    expect((await gateway.get(`${base}/${body.id}`, { key: theirs.adminKey })).status).toBe(404);
    expect((await gateway.get(`${base}/${body.id}`, { key: member.session })).status).toBe(404);
    const userKey = await addKey(gateway, {
      ...place,
      type: 'workspace-user',
      userId: place.owner.userId,
      scopes: ['logs.export'],
    });
    expect((await gateway.get(base, { key: userKey.secret })).body.total).toBe(0);
    const settings = (changed: object) => gateway.put('/v1/admin/organisation/settings', changed);
    await settings({ security_settings: { managersViewAllData: false } });
    expect((await make({}, member.session)).body.total).toBe(0);
    await settings({ security_settings: { managersViewAllData: true }, export_settings: { deniedFields: ['cost'] } });
    const denied = await make();
    expect([denied.status, denied.body.data.message]).toEqual([403, expect.stringContaining('cost')]);
    expect((await gateway.get(`${base}/field-restrictions`)).body.deniedFields).toEqual(['cost']);
    await settings({ export_settings: { deniedFields: [] } });
  });
});
