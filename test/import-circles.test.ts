/** No file imports itself at run time, directly or through others: such files run in an order that nobody chose. */
import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';

const root = join(import.meta.dir, '..');
const folders = ['src', 'console', 'bench', 'test'];

type Graph = ReadonlyMap<string, readonly string[]>;

/** Imports of types alone do not count: nothing is left of them at run time. */
function importsOf(path: string, text: string): string[] {
  const loader = extname(path) === '.tsx' ? 'tsx' : 'ts';
  return new Bun.Transpiler({ loader })
    .scanImports(text)
    .filter((found) => found.kind === 'import-statement' && found.path.startsWith('.'))
    .map((found) => join(dirname(path), found.path));
}

function sourceFiles(): Graph {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => join(folder, name)),
  );
  return new Map(paths.map((path) => [path, importsOf(path, readFileSync(join(root, path), 'utf8'))]));
}

/** Each circle once, as the chain of files that leads from the first back to itself. */
function circlesIn(graph: Graph): string[][] {
  const circles: string[][] = [];
  const done = new Set<string>();
  const walk = (path: string, chain: readonly string[]): void => {
    const at = chain.indexOf(path);
    if (at !== -1) {
      circles.push([...chain.slice(at), path]);
      return;
    }
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) walk(next, [...chain, path]);
    done.add(path);
  };
  for (const path of graph.keys()) walk(path, []);
  return circles;
}

test('a circle of three files is found, wherever it is entered', () => {
  const graph: Graph = new Map([
    ['entry', ['a']],
    ['a', ['b', 'leaf']],
    ['b', ['c']],
    ['c', ['a', 'leaf']],
    ['leaf', []],
  ]);
  expect(circlesIn(graph)).toEqual([['a', 'b', 'c', 'a']]);
});

test('an import of a type is none at run time', () => {
  const text = [
    "import type { A } from './a.ts';",
    "import { type B } from './b.ts';",
    "import { type C, c } from './c.ts';",
    'export const found: A | B | C = c;',
  ].join('\n');
  expect(importsOf('src/here.ts', text)).toEqual(['src/c.ts']);
});

test('there is no circle', () => {
  const files = sourceFiles();
  expect(files.get('src/app.ts')).toContain('src/gateway/open.ts');
  expect(circlesIn(files).map((circle) => circle.join(' -> '))).toEqual([]);
});
