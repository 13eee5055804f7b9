/** The pages for users agree with the program: every variable, error code, header, field, setting, topic of the API, folder and link. */
import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createOpenApiDocument } from '../src/admin/kernel/openapi/openapi.ts';
import { resources } from '../src/admin/resources.ts';
import { configFieldNames } from '../src/catalog/config-schema.ts';
import { targetFields } from '../src/catalog/target-fields.ts';
import { environmentSchema } from '../src/environment.ts';
import { errorCatalogue } from '../src/gateway/error-catalogue.ts';
import { adminErrorCatalogue } from '../src/http/errors.ts';
import { operationsOf } from '../src/http/openapi-document.ts';
import { organisationSettingsUpdate } from '../src/identity/settings.ts';
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

/** The code of the program below a folder, without its tests. */
function sourceOf(folder: string): string {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => read(join(folder, name)))
    .join('\n');
}

const namesIn = (text: string, pattern: RegExp): string[] =>
  [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))].sort();

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
  const variables = Object.entries(environmentSchema().shape);
  const listed = rowsOf('docs/configuration.md').filter(({ code }) => /^[A-Z][A-Z0-9_]+$/.test(code));

  test('lists every environment variable once, and none that the program does not read', () => {
    expect(listed.map(({ code }) => code).sort()).toEqual(variables.map(([name]) => name).sort());
  });

  test('tells the default of every number, text and switch, as it could be set', () => {
    const wrong = variables.flatMap(([name, field]) => {
      const { data } = field.safeParse(undefined);
      if (data === undefined || data === '' || typeof data === 'object') return [];
      const expected = typeof data === 'boolean' ? (data ? 'on' : 'off') : `\`${data}\``;
      const told = listed.find(({ code }) => code === name)?.cells[0];
      return told === expected ? [] : [`${name} is ${expected}, the page says ${told}`];
    });
    expect(wrong).toEqual([]);
  });

  test('lists every variable of the clouds, and none that the program does not read', () => {
    const section = read('docs/configuration.md').split('### Identity at clouds')[1]?.split('\n## ')[0] ?? '';
    const variable = /\b((?:AWS|AZURE|GCP|GCE|IDENTITY)_[A-Z0-9_]*[A-Z0-9])\b/g;
    expect(namesIn(section, variable)).toEqual(namesIn(sourceOf('src/gateway/credentials'), variable));
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

  test('lists every setting of an organisation', () => {
    const listed = rowsOf('docs/administration.md').map(({ code }) => code.split('.')[0]);
    const settings = organisationSettingsUpdate().keyof().options;
    expect(settings.filter((name) => !listed.includes(name))).toEqual([]);
  });

  test('lists every error code with its status and what to do, as the catalogue says it', () => {
    const listed = rowsOf('docs/administration.md').filter(({ code }) => code.startsWith('AB'));
    const catalogue = Object.entries(adminErrorCatalogue).map(([code, { status, remedy }]) => [
      code,
      String(status),
      remedy,
    ]);
    expect(listed.map(({ code, cells }) => [code, ...cells.slice(0, 2)])).toEqual(catalogue);
  });
});

describe('docs/gateway.md', () => {
  const page = read('docs/gateway.md');

  test('names every field of a config that is not a setting of one provider', () => {
    const settings = new Set<string>(targetFields.keyof().options);
    const untold = configFieldNames.filter((name) => !settings.has(name) && !new RegExp(`\`${name}\\b`).test(page));
    expect(untold).toEqual([]);
  });

  test('names every header of ours that the gateway reads', () => {
    const source = sourceOf('src/gateway') + sourceOf('src/providers');
    const asked = /\b(?:own\.(?:get|flag|milliseconds)\('|clientHeader\('x-gw-)([a-z-]+)'\)/g;
    expect(namesIn(source, asked).filter((name) => !page.includes(`\`x-gw-${name}`))).toEqual([]);
  });

  test('names no header that the gateway knows nothing of', () => {
    const settings = targetFields.keyof().options.map((name) => name.replaceAll('_', '-'));
    const source = sourceOf('src/gateway') + sourceOf('src/providers');
    const known = (name: string) => settings.some((field) => field === name) || source.includes(name);
    expect(namesIn(page, /`x-gw-([a-z][a-z-]*)/g).filter((name) => !known(name))).toEqual([]);
  });

  test('lists every error of the gateway with its status and what to do, as the catalogue says it', () => {
    const told = rowsOf('docs/gateway.md').filter(({ cells }) => /^[1-5]\d\d$/.test(cells[0] ?? ''));
    const catalogue = Object.entries(errorCatalogue).map(([code, { status, remedy }]) => [
      code,
      String(status),
      remedy,
    ]);
    expect(told.map(({ code, cells }) => [code, ...cells.slice(0, 2)]).sort()).toEqual(catalogue.sort());
  });
});

describe('docs/architecture.md', () => {
  const page = read('docs/architecture.md');
  const [, tree = ''] = page.split('```');
  const foldersIn = (path: string) =>
    readdirSync(join(root, path), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map(({ name }) => name)
      .sort();

  test('shows every folder of the program, and none besides', () => {
    expect(namesIn(tree, /^ {2}([a-z]+)\/ /gm)).toEqual(foldersIn('src'));
    const made = ['data', 'dist', 'node_modules'];
    expect(namesIn(tree, /^([a-z]+)\/ *(?: |$)/gm)).toEqual(foldersIn('.').filter((name) => !made.includes(name)));
  });

  test('names a file for every stage of the journey', () => {
    const stages = [...page.matchAll(/^\| \w+ \| ((?:`[\w/-]+\.ts`(?:, )?)+) \|/gm)].map(([, files = '']) => files);
    const files = stages.flatMap((names) => namesIn(names, /`([\w/-]+\.ts)`/g));
    expect(files).toContain('routing/route.ts');
    expect(files.filter((file) => !existsSync(join(root, 'src/gateway', file)))).toEqual([]);
  });
});

describe('docs/decisions.md', () => {
  test('numbers every decision once, without a gap', () => {
    const decisions = [...read('docs/decisions.md').matchAll(/^(\d+)\. \*\*(.+?)\*\*/gm)];
    expect(decisions.map(([, number]) => Number(number))).toEqual(decisions.map((_, index) => index + 1));
    expect(new Set(decisions.map(([, , title]) => title)).size).toBe(decisions.length);
  });

  test('says each in at most a hundred words', () => {
    const decisions = [...read('docs/decisions.md').matchAll(/^(\d+)\. (.+)$/gm)];
    expect(decisions.filter(([, , text = '']) => text.split(/\s+/).length > 100).map(([, number]) => number)).toEqual(
      [],
    );
  });
});

describe('docs/sandbox.md', () => {
  test('lists every knob, and none that the sandbox does not know', () => {
    expect(rowsOf('docs/sandbox.md').map(({ code }) => code)).toEqual([...knobNames()]);
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
