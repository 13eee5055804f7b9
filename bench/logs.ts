/** The embedded log store with two million rows of thirty days: how fast it takes them, and how fast it answers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeTraffic } from '../scripts/demo/traffic.ts';
import { silentLog } from '../src/log.ts';
import { edgesOf } from '../src/logs/analytics/buckets.ts';
import { graphs } from '../src/logs/analytics/graphs.ts';
import { QueryThread } from '../src/logs/embedded/query-client.ts';
import type { LogFilter } from '../src/logs/query.ts';
import { callsBesideQueries, firstStart } from './calls-beside-queries.ts';

const rows = Number(process.env.BENCH_LOG_ROWS ?? 2_000_000);
const rounds = 7;
const day = 86_400_000;

const placesOf = (organisationId: string) =>
  ['one', 'two', 'three', 'four'].map((name, at) => ({
    organisationId,
    workspaceId: name,
    workspaceSlug: name,
    keys: Array.from({ length: 5 }, (_, key) => ({ id: `${name}-${key}`, name: `${key}` })),
    configs: [{ id: name, slug: `pc-${name}`, versionId: null }],
    providers: [],
    weight: at + 1,
  }));

export async function benchLogs(): Promise<Record<string, unknown>> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-bench-logs-'));
  try {
    const keys = await firstStart(folder);
    const now = Date.now();
    const begun = performance.now();
    const cpu = process.cpuUsage();
    await writeTraffic(folder, placesOf(keys.organisationId), { rows, seed: 1, now }, () => undefined);
    const seconds = (performance.now() - begun) / 1_000;
    const { user, system } = process.cpuUsage(cpu);
    const results: Record<string, unknown> = {
      rows,
      'made and stored, rows/s': Math.round(rows / seconds),
      'the same by CPU time, rows/s': Math.round(rows / ((user + system) / 1e6)),
    };
    const queries = new QueryThread(join(folder, 'logs'), 60_000, silentLog);
    for (const [name, ask] of Object.entries(questions(queries, keys.organisationId, now))) {
      const times: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const start = performance.now();
        await ask();
        times.push(performance.now() - start);
      }
      times.sort((a, b) => a - b);
      results[name] = { median_ms: rounded(times[Math.floor(rounds / 2)]), worst_ms: rounded(times.at(-1)) };
    }
    await queries.close();
    results['calls while graphs are asked for, ms'] = await callsBesideQueries(folder, keys, now);
    console.log(`\nThe embedded log store, ${rows.toLocaleString('en')} rows`);
    console.table(
      Object.fromEntries(
        Object.entries(results).map(([name, value]) => [name, typeof value === 'object' ? value : { figure: value }]),
      ),
    );
    return results;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const rounded = (ms: number | undefined): number => Math.round((ms ?? 0) * 10) / 10;

function questions(queries: QueryThread, organisationId: string, now: number): Record<string, () => Promise<unknown>> {
  const filter: LogFilter = {
    organisationId,
    scopes: [{ workspaceId: null, userId: null }],
    from: now - 30 * day,
    to: now,
  };
  const edges = edgesOf({ ms: filter.from, offset: 0 }, now);
  const graph =
    (name: 'cost' | 'latency' | 'users', more: Partial<LogFilter> = {}) =>
    () => {
      const { sums, measures } = graphs[name];
      return queries.aggregate({ filter: { ...filter, ...more }, group: { by: 'time', edges }, sums, measures });
    };
  const page =
    (more: Partial<LogFilter>, from = filter.from) =>
    () =>
      queries.list({
        filter: { ...filter, ...more, from },
        sort: 'created_at',
        descending: true,
        offset: 0,
        limit: 50,
      });
  return {
    'graph of cost, 30 days': graph('cost'),
    'graph of latency, 30 days': graph('latency'),
    'graph of users, 30 days': graph('users'),
    'graph of cost, one model and one workspace': graph('cost', {
      scopes: [{ workspaceId: 'three', userId: null }],
      models: [{ org: 'openai', model: 'gpt-4o' }],
    }),
    'graph of cost, by metadata': graph('cost', { metadata: { environment: 'staging' } }),
    'graph of cost, by a range of costs': graph('cost', { ranges: { cost: { min: 0.1 } } }),
    'the values that filters offer, 30 days': () => queries.values(filter),
    'group by model with p95 and p99': () =>
      queries.aggregate({ filter, group: { by: 'field', field: 'ai_model' }, measures: ['latencies'] }),
    'group by key with p95 and p99': () =>
      queries.aggregate({ filter, group: { by: 'field', field: 'api_key_id' }, measures: ['latencies'] }),
    'page of errors, last day': page({ values: { response_status_code: ['500', '503'] } }, now - day),
    'page of errors, 30 days': page({ values: { response_status_code: ['500', '503'] } }),
    'page of one user, 30 days': page({ metadata: { _user: 'user-7' } }),
  };
}
