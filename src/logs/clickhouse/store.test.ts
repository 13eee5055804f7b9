import { describe } from 'bun:test';
import { logStoreSuite } from '../../../test/log-store-suite.ts';
import { clickhouseInstalled, startClickHouse } from '../../../test/servers/clickhouse.ts';
import { silentLog } from '../../log.ts';
import { openQueries, openWriter } from '../engine.ts';

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
