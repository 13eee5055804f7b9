/** The program with few files to open: a call that gets no connection is told why, and all is well when there are some again. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtProgram, type Command, root, type Served, saveProvider, serve } from './process.ts';
import * as openai from './providers/openai.ts';
import { type SimulatedProvider, startProvider } from './providers/simulated.ts';
import { until } from './servers/wire-calls.ts';

const mostFiles = 96;
const withFewFiles: Command = {
  words: ['sh', '-c', `ulimit -n ${mostFiles}; exec "$0" "$@"`, process.execPath, builtProgram()],
  folder: root,
};

const body = JSON.stringify({ model: '@few/gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] });

const connected = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.on('error', reject);
  });

const head = ({ workspaceKey }: Served): string =>
  [
    'POST /v1/chat/completions HTTP/1.1',
    'host: a',
    `x-gw-api-key: ${workspaceKey}`,
    `content-length: ${body.length}`,
    '\r\n',
  ].join('\r\n');

const heard = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    let answer = '';
    socket.on('data', (bytes) => {
      answer += bytes;
      if (answer.endsWith('}')) resolve(answer);
    });
  });

/** Resolves when a call is answered: with few files left some are not at first. */
async function answered(served: Served): Promise<void> {
  for (;;) {
    const response = await fetch(`${served.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-gw-api-key': served.workspaceKey, connection: 'close' },
      body,
    }).catch(() => null);
    // Sent away before it was read, to make room.
    if (!response) continue;
    const { error } = (await response.json()) as { error?: { code: string } };
    if (response.status === 200) return;
    expect(error?.code).toBe('too_many_connections');
  }
}

let folder: string;
let provider: SimulatedProvider;
let served: Served;
let others: Socket[] = [];

/** More clients than the program can let in. */
const flood = async (): Promise<Socket[]> => {
  const port = Number(new URL(served.url).port);
  others = await Promise.all(Array.from({ length: mostFiles }, () => connected(port)));
  return others;
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-few-files-'));
  // It keeps no connection, so that every call needs one of its own.
  provider = await startProvider((call, response) => {
    response.setHeader('connection', 'close');
    return openai.says('Hello')(call, response);
  });
  served = await serve({ GW_DATA_DIR: folder }, withFewFiles);
  await saveProvider(served, 'few', provider.url);
});

afterAll(async () => {
  for (const other of others) other.destroy();
  served.kill('SIGTERM');
  expect(await served.ended).toBe(0);
  await provider.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('calls that get no connection are told why, and the operator what to do, once', async () => {
  const port = Number(new URL(served.url).port);
  // Several, because the program's own work may give a file back in between.
  const callers = await Promise.all(Array.from({ length: 12 }, () => connected(port)));
  const answers = callers.map(heard);
  for (const caller of callers) caller.write(head(served) + body.slice(0, -1));
  // They have begun to ask, so that nobody sends them away.
  for (const socket of await flood()) socket.write(head(served));
  const full = () => served.log().includes('No client can be let in');
  await until(full);
  for (const caller of callers) caller.write(body.slice(-1));
  const refused = (await Promise.all(answers)).filter((answer) => answer.startsWith('HTTP/1.1 503'));
  expect(refused.length).toBeGreaterThan(0);
  for (const answer of refused) expect(answer).toContain('"code":"too_many_connections"');
  expect(served.log().match(/Calls fail because/g)).toHaveLength(1);
  for (const socket of [...callers, ...others]) socket.destroy();
  await answered(served);
});

test('clients who ask for nothing are sent away when others cannot come in', async () => {
  const left = (await flood()).map((socket) => new Promise((resolve) => socket.on('end', resolve)));
  await answered(served);
  await Promise.race(left);
});
