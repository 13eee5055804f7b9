/** The program as `npm start` runs it: made into one file, and made again when a source has changed. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storedLogRows } from './log-rows.ts';
import { type Command, run, serve } from './process.ts';

const root = join(import.meta.dir, '..');
let tree: string;
let command: Command;

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'gw-program-'));
  for (const name of ['src', 'console', 'scripts', 'package.json', 'package-lock.json', 'dist/console.pack']) {
    if (existsSync(join(root, name))) cpSync(join(root, name), join(tree, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  command = { words: ['sh', 'scripts/run.sh', 'src/main.ts'], folder: tree };
});
afterAll(() => rmSync(tree, { recursive: true, force: true }));

const built = () => statSync(join(tree, 'dist/program/main.js')).ino;

test('it is made once, and again when a source has changed', async () => {
  const { stdout: first } = await run(['--version'], {}, command);
  const program = built();
  await run(['--version'], {}, command);
  expect(built()).toBe(program);

  const manifest = join(tree, 'package.json');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(`"version": "${first.trim()}"`, '"version": "9.9.9"'));
  const { code, stdout } = await run(['--version'], {}, command);
  expect({ code, stdout }).toEqual({ code: 0, stdout: '9.9.9\n' });
  expect(readdirSync(join(tree, 'dist')).filter((name) => name.startsWith('program'))).toEqual(['program']);
});

test('a source that cannot be read as a program is told, and nothing runs', async () => {
  const source = join(tree, 'src/version.ts');
  const text = readFileSync(source, 'utf8');
  writeFileSync(source, `${text}const =`);
  const { code, stdout, stderr } = await run(['--version'], {}, command);
  writeFileSync(source, text);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('src/version.ts');
});

test('it serves the console and calls, stores their records in a thread, and ends on SIGTERM', async () => {
  const dataDir = join(tree, 'data');
  const served = await serve({ GW_DATA_DIR: dataDir }, command);
  const page = await fetch(served.url);
  expect(page.headers.get('content-type')).toContain('text/html');
  const answer = await fetch(`${served.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gw-api-key': served.workspaceKey,
      'x-gw-provider': '@sandbox',
    },
    body: JSON.stringify({ model: 'sandbox', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  expect(answer.status).toBe(200);
  await answer.text();
  served.kill('SIGTERM');
  expect(await served.ended).toBe(0);
  expect(storedLogRows(dataDir)).toBe(1);
});

test.skipIf(process.platform !== 'linux')(
  'what is started becomes the program: no other process waits beside it',
  async () => {
    const served = await serve({ GW_DATA_DIR: join(tree, 'alone') }, command);
    expect(readFileSync(`/proc/${served.pid}/cmdline`, 'utf8').split('\0')[0]).toEndWith('/bun');
    const children = readFileSync(`/proc/${served.pid}/task/${served.pid}/children`, 'utf8');
    expect(children).toBe('');
    served.kill('SIGTERM');
    expect(await served.ended).toBe(0);
  },
);

test.skipIf(process.platform !== 'linux')('an npm that is killed takes the program along', async () => {
  const npm: Command = { words: ['npm', 'run', '--silent', 'gw', '--'], folder: tree };
  const served = await serve({ GW_DATA_DIR: join(tree, 'orphan') }, npm);
  const children = readFileSync(`/proc/${served.pid}/task/${served.pid}/children`, 'utf8').trim().split(' ');
  expect(children).toHaveLength(1);
  served.kill('SIGKILL');
  await served.ended;
  while (existsSync(`/proc/${children[0]}`)) await Bun.sleep(20);
});

test('where dist takes no files the sources run, and a line says so', async () => {
  rmSync(join(tree, 'dist'), { recursive: true });
  writeFileSync(join(tree, 'dist'), 'in the way');
  const { code, stdout, stderr } = await run(['--version'], {}, command);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(stderr).toContain('runs from its sources');
});
