import { describe, expect, test } from 'bun:test';
import { logRecord, segmentOf } from '../../../test/log-records.ts';
import { logStoreSuite } from '../../../test/log-store-suite.ts';
import { clickhouseInstalled, startClickHouse } from '../../../test/servers/clickhouse.ts';
import { silentLog } from '../../log.ts';
import { openQueries, openWriter } from '../engine.ts';
import { framesIn } from '../segment.ts';
import { connect } from './client.ts';

const forever = { bodyMs: 3e11, rowMs: 3e11 };

describe.if(clickhouseInstalled)('the log store in ClickHouse', () => {
  logStoreSuite(async () => {
    const server = await startClickHouse();
    const engine = { kind: 'clickhouse', url: server.newDatabase() } as const;
    const writer = await openWriter(engine, 15_000, forever);
    const queries = openQueries(engine, 30_000, silentLog);
    return {
      writer,
      queries,
      async close() {
        await writer.close();
        await queries.close();
        await server.stop();
      },
    };
  });
});

describe.if(clickhouseInstalled)('the time to live in ClickHouse', () => {
  const dayMs = 86_400_000;

  test('of a hundred years deletes nothing, and follows the settings at every start', async () => {
    const server = await startClickHouse();
    const url = server.newDatabase();
    const client = connect(url, 15_000);
    const lived = async (days: number): Promise<string | undefined> => {
      const writer = await openWriter({ kind: 'clickhouse', url }, 15_000, {
        bodyMs: days * dayMs,
        rowMs: days * dayMs,
      });
      await writer.write(framesIn(segmentOf([logRecord()])), Bun.randomUUIDv7());
      await writer.close();
      const found = await client.query({
        query: "select engine_full from system.tables where database = currentDatabase() and name = 'gw_logs'",
        format: 'JSONEachRow',
      });
      const [table] = await found.json<{ engine_full: string }>();
      return /toIntervalDay\((\d+)\)/.exec(table?.engine_full ?? '')?.[1];
    };
    expect([await lived(36_500), await lived(365), await lived(30), await lived(36_500)]).toEqual([
      undefined,
      '365',
      '30',
      undefined,
    ]);
    const found = await client.query({ query: 'select count() as rows from gw_logs', format: 'JSONEachRow' });
    expect(Number((await found.json<{ rows: number }>())[0]?.rows)).toBe(4);
    await client.close();
    await server.stop();
  });
});
