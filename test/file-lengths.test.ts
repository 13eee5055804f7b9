/** No file is so long that it holds two ideas: the limit that `docs/contributing.md` names. */
import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dir, '..');
const folders = ['src', 'test', 'bench', 'console', 'scripts'];
const mostLines = 400;

/** Data and generated files, such as JSON and snapshots, have other endings. */
const isSource = (name: string): boolean => /\.(tsx?|mjs|css|sh|py)$/.test(name) && !name.includes('node_modules');

const linesIn = (text: string): number => text.trimEnd().split('\n').length;

test('no file is longer than 400 lines', () => {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter(isSource)
      .map((name) => join(folder, name)),
  );
  expect(files.length).toBeGreaterThan(1_000);
  const tooLong = files
    .map((file) => ({ file, lines: linesIn(readFileSync(join(root, file), 'utf8')) }))
    .filter(({ lines }) => lines > mostLines);
  expect(tooLong).toEqual([]);
});
