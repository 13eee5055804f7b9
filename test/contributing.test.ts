/** The worked examples of docs/contributing.md, taken from the page and added to a copy of the tree: they fit, and they work. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(import.meta.dir, '..');
const page = readFileSync(join(root, 'docs/contributing.md'), 'utf8');

interface Block {
  language: string;
  path: string;
  text: string;
}

/** Blocks that name a file behind their language: `ts src/...` is the whole file, `diff src/...` a change of one. */
const blocks: Block[] = [...page.matchAll(/^```(ts|diff) (\S+)\n([\s\S]*?)^```$/gm)].map(
  ([, language = '', path = '', text = '']) => ({ language, path, text }),
);
const files = blocks.filter((block) => block.language === 'ts');
const changes = blocks.filter((block) => block.language === 'diff');

const copied = [
  'src',
  'test',
  'console',
  'scripts',
  'biome.json',
  'tsconfig.json',
  'package.json',
  'package-lock.json',
];

let tree: string;

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'gw-contributing-'));
  for (const name of copied) cpSync(join(root, name), join(tree, name), { recursive: true });
  const pack = join(root, 'dist/console.pack');
  if (existsSync(pack)) cpSync(pack, join(tree, 'dist/console.pack'));
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  for (const { path, text } of files) write(path, text);
  for (const { path, text } of changes) write(path, applied(readFileSync(join(tree, path), 'utf8'), text));
});
afterAll(() => rmSync(tree, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(tree, path)), { recursive: true });
  writeFileSync(join(tree, path), text);
}

/** A change without line numbers: what stands there now must stand in the file exactly once. */
function applied(text: string, change: string): string {
  const lines = change.split('\n').filter((line) => line !== '');
  const side = (dropped: string) =>
    lines
      .filter((line) => !line.startsWith(dropped))
      .map((line) => `${line.slice(1)}\n`)
      .join('');
  const parts = text.split(side('+'));
  expect({ change, found: parts.length - 1 }).toEqual({ change, found: 1 });
  return parts.join(side('-'));
}

function run(program: string, args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(program, args, { cwd: tree });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })));
}

/** The lines of a checker's output that speak of the page's own files; the rest of the tree has its own checks. */
const about = (output: string): string[] =>
  output.split('\n').filter((line) => blocks.some(({ path }) => line.startsWith(path)));

describe('the worked examples', () => {
  test('the page shows a migration, a folder, a line and a provider', () => {
    const paths = blocks.map((block) => block.path);
    for (const part of ['src/store/migrations/', 'src/admin/topics/', 'src/admin/resources.ts', 'src/providers/']) {
      expect(paths.some((path) => path.startsWith(part))).toBe(true);
    }
  });

  test('they have no type errors', async () => {
    const include = blocks.map((block) => block.path);
    write('tsconfig.page.json', JSON.stringify({ extends: './tsconfig.json', include }));
    const { output } = await run(join(root, 'node_modules/.bin/tsc'), [
      '--pretty',
      'false',
      '-p',
      'tsconfig.page.json',
    ]);
    expect(output).not.toMatch(/^error/m);
    expect(about(output)).toEqual([]);
  }, 120_000);

  test('they have no lint findings', async () => {
    const paths = files.map((file) => file.path);
    const { code, output } = await run(join(root, 'node_modules/.bin/biome'), [
      'check',
      '--vcs-enabled=false',
      ...paths,
    ]);
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
  });

  test('the new resource passes its own tests and those that are made from declarations', async () => {
    const own = await run(process.execPath, ['test', '--timeout=60000', 'src/admin/topics']);
    expect({ code: own.code, output: own.code === 0 ? '' : own.output }).toEqual({ code: 0, output: '' });
    const walked = await run(process.execPath, ['test', '--timeout=60000', 'test/permissions.test.ts', '-t', 'topics']);
    expect({ code: walked.code, output: walked.code === 0 ? '' : walked.output }).toEqual({ code: 0, output: '' });
    expect(Number(/(\d+) pass/.exec(walked.output)?.[1])).toBeGreaterThanOrEqual(3);
    const contracts = await run(process.execPath, ['test', 'test/contracts.test.ts']);
    expect(contracts.output).not.toContain('/topics');
  }, 120_000);

  test('the new provider is found by its name', async () => {
    const { output } = await run(process.execPath, [
      '-e',
      "const { providers } = await import('./src/providers/index.ts'); process.stdout.write(providers.get('example')?.name ?? '');",
    ]);
    expect(output).toBe('Example AI');
  });
});
