/** No file imports itself, directly or through others: such files run in an order that nobody chose, and cannot be read one after the other. */
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

/** Every file that the text names, those too of which only types are wanted. */
function namesIn(path: string, text: string): string[] {
  const found = text.matchAll(/^(?:import|export)\b[^;'"]*?\bfrom\s+'(\.[^']+)'/gm);
  return [...found].map(([, named = '']) => join(dirname(path), named));
}

function sourceFiles(read: (path: string, text: string) => string[]): Graph {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => join(folder, name)),
  );
  return new Map(paths.map((path) => [path, read(path, readFileSync(join(root, path), 'utf8'))]));
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

test('a name of types is found over several lines, and one in a text is none', () => {
  const text = [
    'import type {',
    '  A,',
    "} from './a.ts';",
    "export type * from './b.ts';",
    "const said = `import { c } from './c.ts';`;",
    "export const other = said; // from './d.ts'",
  ].join('\n');
  expect(namesIn('src/here.ts', text)).toEqual(['src/a.ts', 'src/b.ts']);
});

test('there is no circle of types', () => {
  expect(circlesIn(sourceFiles(namesIn)).map((circle) => circle.join(' -> '))).toEqual([]);
});

test('there is no circle at run time', () => {
  const files = sourceFiles(importsOf);
  expect(files.get('src/app.ts')).toContain('src/gateway/open.ts');
  expect(circlesIn(files).map((circle) => circle.join(' -> '))).toEqual([]);
});
