/** A long audit trail over HTTP: ranges that move with the time, rows that come late, rows that are purged. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { auditRow } from '../../../test/audit-rows.ts';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { type Home, home, storeOf } from '../../../test/people.ts';

onEachEngine('a long audit trail', (start) => {
  let gateway: TestGateway;
  let place: Home;

  const moment = (second: number) => new Date(Date.parse('2032-05-01T00:00:00Z') + second * 1000).toISOString();
  const row = (second: number) =>
    auditRow({
      organisation_id: place.organisationId,
      timestamp: moment(second),
      uri: `/v1/rows/${second}`,
      resource_type: 'row',
      action: second % 100 === 0 ? 'delete' : 'create',
    });
  const add = (seconds: number[]) => storeOf(gateway).db.insertInto('audit_logs').values(seconds.map(row)).execute();
  const all = Array.from({ length: 1_000 }, (_, second) => second);
  let seconds = all;
  beforeAll(async () => {
    gateway = await start();
    place = await home(gateway);
    await add(all);
  });
  afterAll(() => gateway.stopWithoutFaults());

  const expectRows = async (from: number, to: number, query: Record<string, string> = {}, page = 0) => {
    const range = { start_time: moment(from), end_time: moment(to) };
    const asked = { ...range, resource_type: 'row', page_size: '20', current_page: `${page}`, ...query };
    const { body } = await gateway.get(`/v1/audit-logs?${new URLSearchParams(asked)}`);
    const expected = seconds
      .filter((second) => second >= from && second <= to && (!query.action || second % 100 === 0))
      .sort((a, b) => b - a);
    expect([from, to, page, body.total]).toEqual([from, to, page, expected.length]);
    expect(body.records.map((record: { uri: string }) => record.uri)).toEqual(
      expected.slice(page * 20, page * 20 + 20).map((second) => `/v1/rows/${second}`),
    );
  };

  test('rows are found on every page of a range that moves with the time, while rows are added and purged', async () => {
    for (let now = 1_000; now < 1_030; now++) {
      await expectRows(now - 800, now, {}, now % 41);
      await expectRows(now - 800, now, { action: 'delete' });
      await add([now]);
      seconds = [...seconds, now];
      // The end that was asked for is the past now.
      await expectRows(now - 800, now - 1, {}, now % 41);
      await expectRows(now - 800, now - 1, { action: 'delete' });
    }
    const db = storeOf(gateway).db;
    await db.deleteFrom('audit_logs').where('resource_type', '=', 'row').where('timestamp', '<', moment(600)).execute();
    seconds = seconds.filter((second) => second >= 600);
    for (const from of [0, 500, 650, 900]) {
      for (const page of [0, 5, 10, 21]) await expectRows(from, 2_000, {}, page);
      await expectRows(from, 2_000, { action: 'delete' });
      await expectRows(from, 950, {}, 1);
    }
  });

  test('rows written for a moment that lies back stand where they belong', async () => {
    await expectRows(0, 2_000, {}, 8);
    await add([20, 610.5, 999.5, 1_500]);
    seconds = [...seconds, 20, 610.5, 999.5, 1_500];
    for (const page of [0, 1, 8, 20, 21, 22]) await expectRows(0, 2_000, {}, page);
    await expectRows(610, 1_000, {}, 3);
  });
});
