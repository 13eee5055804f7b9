/** The master key is rotated by a process of its own while others serve: no call fails, a kill is survived, and the old key is of no use afterwards. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtProgram, root, run, type Served, saveProvider, serve } from './process.ts';
import * as openai from './providers/openai.ts';
import { type SimulatedProvider, startProvider } from './providers/simulated.ts';
import { newMigratedDatabase, postgresInstalled } from './servers/postgres.ts';

const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-master-key-'));
  folders.push(folder);
  return folder;
};

let provider: SimulatedProvider;
beforeAll(async () => {
  provider = await startProvider(openai.says('Hello'));
});
afterAll(async () => {
  await provider.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

async function ask({ url }: Served, key: string, slug: string): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-gw-api-key': key, 'x-gw-provider': `@${slug}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await response.text();
  return response.status;
}

/** Another process hears of a new provider a moment later. */
async function heardOf(server: Served, key: string, slug: string): Promise<number> {
  const until = Date.now() + 30_000;
  let status = await ask(server, key, slug);
  while (status === 400 && Date.now() < until) {
    await Bun.sleep(100);
    status = await ask(server, key, slug);
  }
  return status;
}

/** Begins a rotation and kills it as soon as it has told the others. */
async function killedRotation(env: Record<string, string>): Promise<void> {
  const child = Bun.spawn([process.execPath, builtProgram(), 'master-key', 'rotate'], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  for await (const chunk of child.stdout) if (Buffer.from(chunk).includes('learn')) break;
  child.kill('SIGKILL');
  await child.exited;
}

/** Saves through the first process and calls through the last, until the work is done. */
async function trafficDuring(servers: readonly Served[], work: Promise<unknown>): Promise<number[]> {
  const [first] = servers;
  const last = servers.at(-1);
  if (!first || !last) throw new Error('No server');
  const statuses: number[] = [];
  let done = false;
  void work.finally(() => {
    done = true;
  });
  for (let index = 0; !done; index++) {
    const slug = `during-${index}`;
    await saveProvider(first, slug, provider.url);
    statuses.push(await heardOf(last, first.workspaceKey, slug), await ask(last, first.workspaceKey, 'before'));
    await Bun.sleep(200);
  }
  return statuses;
}

async function stop(servers: readonly Served[]): Promise<void> {
  for (const server of servers) server.kill('SIGTERM');
  await Promise.all(servers.map(({ ended }) => ended));
}

test('with a key file and SQLite', async () => {
  const env = { GW_DATA_DIR: newFolder() };
  const server = await serve(env);
  await saveProvider(server, 'before', provider.url);
  await killedRotation(env);
  expect(await ask(server, server.workspaceKey, 'before')).toBe(200);
  const rotation = run(['master-key', 'rotate'], env);
  const statuses = await trafficDuring([server], rotation);
  expect(statuses.length).toBeGreaterThan(0);
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  expect(await rotation).toMatchObject({ code: 0, stderr: '' });
  await stop([server]);
  const again = await serve(env);
  expect(await ask(again, server.workspaceKey, 'during-0')).toBe(200);
  expect(await ask(again, server.workspaceKey, 'before')).toBe(200);
  await stop([again]);
  expect((await run(['master-key', 'status'], env)).stdout).toContain('0 sealed values are under another key.');
}, 300_000);

test.if(postgresInstalled)(
  'with keys of the environment, PostgreSQL and two processes',
  async () => {
    const DATABASE_URL = await newMigratedDatabase();
    const old = { DATABASE_URL, GW_MASTER_KEY: 'a'.repeat(40) };
    const next = { DATABASE_URL, GW_MASTER_KEY: 'b'.repeat(40) };
    const first = await serve({ ...old, GW_DATA_DIR: newFolder() });
    const second = await serve({ ...old, GW_DATA_DIR: newFolder() });
    await saveProvider(first, 'before', provider.url);
    const command = { ...old, GW_NEXT_MASTER_KEY: next.GW_MASTER_KEY, GW_DATA_DIR: newFolder() };
    await killedRotation(command);
    const rotation = run(['master-key', 'rotate'], command);
    const statuses = await trafficDuring([first, second], rotation);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect(await rotation).toMatchObject({ code: 0, stderr: '' });
    // Until it is retired, processes with either key start.
    const third = await serve({ ...next, GW_DATA_DIR: newFolder() });
    expect(await ask(third, first.workspaceKey, 'during-0')).toBe(200);
    expect((await run(['master-key', 'retire'], { ...next, GW_DATA_DIR: newFolder() })).code).toBe(0);
    expect(await ask(second, first.workspaceKey, 'before')).toBe(200);
    await stop([first, second, third]);
    const refused = await run(['serve'], { ...old, PORT: '0', GW_DATA_DIR: newFolder() });
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain('another master key');
    const fourth = await serve({ ...next, GW_DATA_DIR: newFolder() });
    expect(await ask(fourth, first.workspaceKey, 'before')).toBe(200);
    await stop([fourth]);
  },
  300_000,
);
