/** The page of providers is what the providers say of themselves. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { pagePath, providersPage } from '../scripts/provider-docs.ts';
import { inheritedFields, targetFields } from '../src/catalog/target-fields.ts';
import { allProviders } from '../src/providers/index.ts';

test('docs/providers.md is as `npm run docs` writes it', () => {
  expect(readFileSync(pagePath, 'utf8')).toBe(providersPage());
});

test('every provider has a section with its name, its settings and its notes', () => {
  const page = providersPage();
  const missing = allProviders.flatMap(({ id, name, fields = [], notes = [] }) => {
    const section = page.split(`\n### ${id}\n`)[1]?.split('\n### ')[0] ?? '';
    const told = [name, ...fields.map((field) => `\`${field.name}\``), ...notes];
    return told.filter((text) => !section.includes(text)).map((text) => `${id}: ${text}`);
  });
  expect(missing).toEqual([]);
});

test('every setting of a provider can be written in a config', () => {
  const known = new Set<string>([...targetFields.keyof().options, ...inheritedFields.keyof().options, 'custom_host']);
  const unknown = allProviders.flatMap(({ id, fields = [] }) =>
    fields.filter(({ name }) => !known.has(name)).map(({ name }) => `${id}: ${name}`),
  );
  expect(unknown).toEqual([]);
});
