/** The MCP gateway: memory of a thousand sessions and five hundred open streams, and what it adds to a call of a tool. */
import { type Child, residentMegabytes, startChild } from './child.ts';
import { startProgram } from './gateway.ts';
import { quantiles } from './load.ts';
import { printTable } from './table.ts';

const sessions = 1_000;
const streams = 500;
const comparedCalls = 3_000;
const atOnce = 50;

interface Target {
  url: string;
  headers: Record<string, string>;
}

export async function benchMcp(): Promise<object> {
  const upstream = await startChild(['bench/mcp-upstream.ts']);
  const program = await startProgram();
  try {
    const direct: Target = { url: `http://127.0.0.1:${upstream.port}/mcp`, headers: {} };
    const through = await registered(program, direct.url);
    const latency = await comparedLatency(direct, through);
    const memory = await memoryOfSessions(program, through);
    return { latency, memory };
  } finally {
    await Promise.all([program.stop(), upstream.stop()]);
  }
}

async function registered(program: Child, url: string): Promise<Target> {
  const key = /workspace key\s+(\S+)/.exec(program.greeting)?.[1] ?? '';
  const headers = { 'x-gw-api-key': key };
  const response = await fetch(`http://127.0.0.1:${program.port}/v1/mcp-integrations`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench', slug: 'bench', url, transport: 'http', auth_type: 'none' }),
  });
  if (!response.ok) throw new Error(`The integration was refused: ${await response.text()}`);
  return { url: `http://127.0.0.1:${program.port}/bench/mcp`, headers };
}

const post = (target: Target, session: string | null, body: object): Promise<Response> =>
  fetch(target.url, {
    method: 'POST',
    headers: {
      ...target.headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session !== null && { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...body }),
  });

async function opened(target: Target): Promise<string> {
  const response = await post(target, null, {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
  });
  const session = response.headers.get('mcp-session-id');
  if (!response.ok || session === null) throw new Error(`No session was opened: ${await response.text()}`);
  await response.arrayBuffer();
  await (await post(target, session, { method: 'notifications/initialized' })).arrayBuffer();
  return session;
}

async function called(target: Target, session: string): Promise<void> {
  const params = { name: 'echo', arguments: { text: 'the same words each time' } };
  const response = await post(target, session, { id: 2, method: 'tools/call', params });
  const text = await response.text();
  if (!response.ok || !text.includes('The answer')) throw new Error(`A call failed: ${response.status} ${text}`);
}

/** One call after the other, alternating, so that noise hits both alike. */
async function comparedLatency(direct: Target, through: Target): Promise<object> {
  const targets = await Promise.all(
    [direct, through].map(async (target) => ({ target, session: await opened(target) })),
  );
  const times: number[][] = targets.map(() => []);
  const rounds = async (count: number, keep: boolean) => {
    for (let round = 0; round < count; round++) {
      for (const [index, { target, session }] of targets.entries()) {
        const start = performance.now();
        await called(target, session);
        if (keep) times[index]?.push(performance.now() - start);
      }
    }
  };
  await rounds(500, false);
  await rounds(comparedCalls, true);
  const [bare, proxied] = times.map(quantiles);
  const added = { p50: (proxied?.p50 ?? 0) - (bare?.p50 ?? 0), p99: (proxied?.p99 ?? 0) - (bare?.p99 ?? 0) };
  printTable(`A call of a tool, ${comparedCalls} one after the other, in ms`, [
    { way: 'direct', p50: bare?.p50 ?? 0, p99: bare?.p99 ?? 0 },
    { way: 'through gw', p50: proxied?.p50 ?? 0, p99: proxied?.p99 ?? 0 },
    { way: 'added (bound: 1 at p50)', ...added },
  ]);
  return { bare, proxied, added };
}

async function memoryOfSessions(program: Child, target: Target): Promise<object> {
  await Bun.sleep(5_000);
  const atRest = residentMegabytes(program.pid);
  const ids: string[] = [];
  while (ids.length < sessions) {
    ids.push(...(await Promise.all(Array.from({ length: atOnce }, () => opened(target)))));
  }
  for (let start = 0; start < ids.length; start += atOnce) {
    await Promise.all(ids.slice(start, start + atOnce).map((id) => called(target, id)));
  }
  const open = await Promise.all(
    ids.slice(0, streams).map(async (id) => {
      const headers = { ...target.headers, accept: 'text/event-stream', 'mcp-session-id': id };
      const response = await fetch(target.url, { headers });
      if (response.status !== 200) throw new Error(`No stream was opened: ${response.status}`);
      return response;
    }),
  );
  await Bun.sleep(2_000);
  const withAll = residentMegabytes(program.pid);
  await Promise.all(open.map((response) => response.body?.cancel()));
  printTable(`${sessions} sessions, ${streams} open streams (bound: 150 MB more than at rest)`, [
    { at_rest_mb: atRest, with_all_mb: withAll, more_mb: withAll - atRest },
  ]);
  return { sessions, streams, atRest, withAll, more: withAll - atRest };
}
