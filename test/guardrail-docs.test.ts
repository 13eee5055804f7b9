/** The page of guardrails is what the checks say of themselves, and every example on it can be saved. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { guardrailsPage, pagePath } from '../scripts/guardrail-docs.ts';
import { checks, findCheck } from '../src/guardrails/catalogue.ts';
import { compileHook } from '../src/guardrails/compile.ts';
import { parseSaved } from '../src/guardrails/hook.ts';

test('docs/guardrails.md is as `npm run docs` writes it', () => {
  expect(readFileSync(pagePath, 'utf8')).toBe(guardrailsPage());
});

test('the example of every check is one that can be saved', () => {
  const faults = checks.flatMap(({ id, example }) => {
    const parsed = parseSaved([{ id, parameters: example }], {});
    const setup = { find: findCheck, credentialsOf: () => ({}), faultOfUrl: () => null };
    const compiled = parsed.ok ? compileHook(parsed.value, id, setup) : parsed;
    return compiled.ok ? [] : [`${id}: ${JSON.stringify(compiled.faults)}`];
  });
  expect(faults).toEqual([]);
});
