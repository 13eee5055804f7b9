/** The thread of queries beside the thread of calls. */
import { expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../log.ts';
import { QueryThread } from './query-client.ts';

/** The name and the priority of each thread of this process. */
const threads = (): Map<string, number> =>
  new Map(
    readdirSync('/proc/self/task').map((id) => {
      const stat = readFileSync(`/proc/self/task/${id}/stat`, 'utf8');
      const [, name = '', rest = ''] = /\((.*)\) (.*)/.exec(stat) ?? [];
      return [id === String(process.pid) ? 'main' : name, Number(rest.split(' ')[16])];
    }),
  );

test.if(process.platform === 'linux')('queries have a lower priority than calls', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-query-thread-'));
  const before = threads().get('main');
  const queries = new QueryThread(folder, 10_000, silentLog);
  await queries.findFeedback(Bun.randomUUIDv7());
  expect([threads().get('main'), threads().get('log-queries')]).toEqual([before, 5]);
  await queries.close();
  rmSync(folder, { recursive: true, force: true });
});
