import { describe } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logStoreSuite } from '../../../test/log-store-suite.ts';
import { silentLog } from '../../log.ts';
import { openQueries, openWriter } from '../engine.ts';

const forever = { bodyMs: 1e14, rowMs: 1e14 };

describe('the embedded log store', () => {
  logStoreSuite(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gw-log-store-'));
    const engine = { kind: 'embedded', folder } as const;
    const writer = await openWriter(engine, 1_000, forever);
    const queries = openQueries(engine, 10_000, silentLog);
    return {
      writer,
      queries,
      async close() {
        await writer.close();
        await queries.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  });
});
