/** Which traces are known, wherever their calls are on their way. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logRecord, segmentOf } from '../../test/log-records.ts';
import { silentLog } from '../log.ts';
import { type LogOptions, type Logs, openLogs } from './logs.ts';
import { OpenTraces } from './open-traces.ts';
import type { LogFilter } from './query.ts';
import { Spool } from './spool.ts';
import { systemTimer, type Timer } from './timer.ts';
import { unknownTraces } from './trace-search.ts';

const breaker = { failureThreshold: 3, backoffMs: 20, timeoutMs: 1_000 };
const ours = { organisationId: 'organisation-1', workspaceId: 'workspace-1' };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-traces-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a trace', () => {
  let logs: Logs;
  const open = (options: Partial<LogOptions> = {}) => {
    logs = openLogs(folder, breaker, silentLog, options);
  };
  const unknown = (...traceIds: string[]) => logs.unknownTraces({ ...ours, traceIds });
  afterEach(() => logs.close());

  test('is known from the moment its record was appended until it is in the store', async () => {
    open();
    const own = logRecord();
    logs.append(logRecord({ trace_id: 'a "quoted" näme' }));
    logs.append(own);
    const asked = ['a "quoted" näme', own.metrics.trace_id, 'nobody'];
    expect(await unknown(...asked)).toEqual(['nobody']);
    // Sixteen records make a frame.
    for (let at = 0; at < 32; at++) logs.append(logRecord());
    expect(await unknown(...asked)).toEqual(['nobody']);
    await logs.settled();
    expect(await unknown(...asked)).toEqual(['nobody']);
  });

  test('of a call that keeps no bodies is known', async () => {
    open();
    logs.append(logRecord({ trace_id: 'metrics-only' }, {}));
    await logs.settled();
    expect(await unknown('metrics-only')).toEqual([]);
  });

  test('of a call under way is known until the call ends', async () => {
    open();
    const token = {};
    logs.openTraces.begin(token, { traceId: 'streaming', workspace: { workspaceId: 'workspace-1' } });
    expect(await unknown('streaming')).toEqual([]);
    logs.openTraces.end(token);
    expect(await unknown('streaming')).toEqual(['streaming']);
  });

  test('of another workspace is not known, wherever it is', async () => {
    open();
    logs.openTraces.begin({}, { traceId: 'open-there', workspace: { workspaceId: 'workspace-2' } });
    logs.append(logRecord({ trace_id: 'there', workspace_id: 'workspace-2' }));
    expect(await unknown('there', 'open-there')).toEqual(['there', 'open-there']);
    for (let at = 0; at < 16; at++) logs.append(logRecord());
    expect(await unknown('there')).toEqual(['there']);
    await logs.settled();
    expect(await unknown('there')).toEqual(['there']);
  });

  test('counts as known while the store cannot be asked', async () => {
    // No folder for the store can be made where a file stands.
    writeFileSync(join(folder, 'logs'), '');
    open();
    expect(await unknown('anything')).toEqual([]);
  });

  test('counts as known right after records were dropped', async () => {
    open({ limits: { bodyDays: 90, rowDays: 365, spoolBytes: 1 } });
    expect(await unknown('lost')).toEqual(['lost']);
    logs.append(logRecord({ trace_id: 'lost' }));
    expect([logs.dropped, await unknown('lost')]).toEqual([1, []]);
  });

  test('that is older than rows are kept is not known', async () => {
    open({ limits: { bodyDays: 1, rowDays: 1, spoolBytes: 1e9 } });
    logs.append(logRecord({ trace_id: 'old', created_at: Date.now() - 2 * 86_400_000 }));
    await logs.settled();
    expect(await unknown('old')).toEqual(['old']);
  });
});

describe('segments that wait', () => {
  const search = (segments: number) => {
    const spool = new Spool(folder, Number.POSITIVE_INFINITY, silentLog, () => undefined);
    for (let at = 0; at < segments; at++) {
      const bytes = segmentOf([logRecord({ trace_id: `waiting-${at}` })]);
      writeFileSync(join(folder, `${at}.ready`), bytes);
      spool.adopt(`${at}.ready`, { until: Date.now(), bytes: bytes.length });
    }
    const store = { traces: async () => [] };
    const rest = { open: new OpenTraces(), since: 0, now: Date.now(), shared: false, timer: systemTimer };
    return unknownTraces({ ...ours, traceIds: ['waiting-2', 'nobody'] }, { ...rest, spool, store });
  };

  test('are searched', async () => {
    expect(await search(4)).toEqual(['nobody']);
  });

  test('that are too many to be searched leave every trace possible', async () => {
    expect(await search(65)).toEqual([]);
  });
});

describe('in a store that other nodes write too', () => {
  /** Runs what is due at once and counts the time. */
  let waited = 0;
  const timer: Timer = (ms, run) => {
    waited += ms;
    const soon = setImmediate(run);
    return () => clearImmediate(soon);
  };
  const search = (traces: (filter: LogFilter) => Promise<string[]>, shared = true) => {
    waited = 0;
    const spool = new Spool(folder, Number.POSITIVE_INFINITY, silentLog, () => undefined);
    const places = { open: new OpenTraces(), spool, store: { traces }, since: 0, now: Date.now(), shared, timer };
    return unknownTraces({ ...ours, traceIds: ['theirs', 'nobody'] }, places);
  };

  test('what another node has answered is waited for, and what never comes is not known', async () => {
    const stored = async ({ traceIds = [] }: LogFilter) => traceIds.filter((id) => id === 'theirs' && waited >= 1_000);
    expect(await search(stored)).toEqual(['nobody']);
    expect(waited).toBeGreaterThanOrEqual(2_000);
    expect(await search(stored, false)).toEqual(['theirs', 'nobody']);
    expect(waited).toBe(0);
  });

  test('a store that goes away while it is waited for refuses nothing', async () => {
    expect(await search(async () => (waited < 500 ? [] : Promise.reject(new Error('away'))))).toEqual([]);
  });
});
