/** The pages for users agree with the program: every variable, every error code, every topic of the API, every link, every migration promise. */
import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createOpenApiDocument } from '../src/admin/kernel/openapi.ts';
import { resources } from '../src/admin/resources.ts';
import { environmentSchema } from '../src/environment.ts';
import { gatewayErrorStatuses } from '../src/gateway/errors.ts';
import { errorCodes } from '../src/http/errors.ts';
import { operationsOf } from '../src/http/openapi-document.ts';
import { knobNames } from '../src/providers/sandbox/knobs.ts';

const root = join(import.meta.dir, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const pages = [
  'README.md',
  'CHANGELOG.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** The rows of the tables on a page whose first cell is code: that code, and the other cells. */
function rowsOf(page: string): { code: string; cells: string[] }[] {
  return [...read(page).matchAll(/^\| `([^`]+)`([^\n]*)\|$/gm)].map(([, code = '', rest = '']) => ({
    code,
    cells: rest
      .split('|')
      .slice(1)
      .map((cell) => cell.trim()),
  }));
}

describe('docs/configuration.md', () => {
  const variables = Object.entries(environmentSchema.shape);
  const listed = rowsOf('docs/configuration.md').filter(({ code }) => /^[A-Z][A-Z_]+$/.test(code));

  test('lists every environment variable once, and none that the program does not read', () => {
    expect(listed.map(({ code }) => code).sort()).toEqual(variables.map(([name]) => name).sort());
  });

  test('tells the default of every number and text', () => {
    const wrong = variables.flatMap(([name, field]) => {
      const { data } = field.safeParse(undefined);
      if (typeof data !== 'number' && (typeof data !== 'string' || data === '')) return [];
      const told = listed.find(({ code }) => code === name)?.cells[0]?.replace(/[`,]/g, '');
      return told === String(data) ? [] : [`${name} is ${data}, the page says ${told}`];
    });
    expect(wrong).toEqual([]);
  });
});

describe('docs/administration.md', () => {
  test('speaks of every topic of the API', () => {
    const tags = new Set(
      operationsOf(createOpenApiDocument(resources)).map(({ operation }) => operation.tags[0] ?? ''),
    );
    const text = read('docs/administration.md');
    expect([...tags].filter((tag) => !text.includes(tag))).toEqual([]);
  });

  test('lists every error code', () => {
    const listed = rowsOf('docs/administration.md').map(({ code }) => code);
    expect(errorCodes.filter((code) => !listed.includes(code))).toEqual([]);
  });
});

describe('docs/gateway.md', () => {
  test('lists every error of the gateway with its status', () => {
    const listed = new Map(rowsOf('docs/gateway.md').map(({ code, cells }) => [code, cells[0]]));
    const wrong = Object.entries(gatewayErrorStatuses).filter(([code, status]) => listed.get(code) !== String(status));
    expect(wrong).toEqual([]);
  });
});

describe('docs/sandbox.md', () => {
  test('lists every knob, and none that the sandbox does not know', () => {
    expect(rowsOf('docs/sandbox.md').map(({ code }) => code)).toEqual([...knobNames]);
  });
});

describe('links', () => {
  const headingsOf = (page: string): string[] =>
    [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    );

  test.each(pages)('every relative link of %s leads somewhere', (page) => {
    const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const broken = links.filter((link) => {
      if (/^[a-z]+:/.test(link)) return false;
      const [path = '', anchor] = link.split('#');
      const file = path === '' ? page : join(dirname(page), path);
      if (!existsSync(join(root, file))) return true;
      return anchor !== undefined && !headingsOf(file).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  test('the README leads to every page', () => {
    const readme = read('README.md');
    expect(pages.filter((page) => page !== 'README.md' && !readme.includes(`](${page})`))).toEqual([]);
  });
});
