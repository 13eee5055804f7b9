/** Secrets in variables and files of the gateway's own machine: only what the operator has opened. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLab, secretValue, sourceOf, useOf } from '../../../test/secret-managers/open.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-files-'));
  mkdirSync(join(folder, 'opened', '..data'), { recursive: true });
  writeFileSync(join(folder, 'opened', '..data', 'openai'), 'sk-file\n');
  symlinkSync('..data/openai', join(folder, 'opened', 'openai'));
  writeFileSync(join(folder, 'outside'), 'sk-outside');
  symlinkSync('../outside', join(folder, 'opened', 'leak'));
  writeFileSync(join(folder, 'opened', 'large'), 'x'.repeat(65_537));
});
afterAll(() => rmSync(folder, { recursive: true }));

const read = (env: Record<string, string>, manager: 'environment' | 'file', path: string) =>
  secretValue(openLab(env), [useOf(sourceOf(manager, {}, path))]);

test('a variable is read where its name or its beginning is opened', async () => {
  const env = {
    SECRET_ENVIRONMENT_VARIABLES: 'OPENAI_KEY, TEAM_*',
    OPENAI_KEY: 'sk-1',
    TEAM_A_KEY: 'sk-2',
    TEAM_EMPTY_KEY: ' ',
    OTHER: 'sk-3',
  };
  expect(await read(env, 'environment', 'OPENAI_KEY')).toBe('sk-1');
  expect(await read(env, 'environment', 'TEAM_A_KEY')).toBe('sk-2');
  expect(await read(env, 'environment', 'TEAM_EMPTY_KEY')).toEndWith('the secret is empty');
  expect(await read(env, 'environment', 'OTHER')).toEndWith('has not opened OTHER in SECRET_ENVIRONMENT_VARIABLES');
  expect(await read(env, 'environment', 'TEAM_B_KEY')).toEndWith('the environment variable TEAM_B_KEY is not set');
});

test('a file is read below the opened folder, also behind links that stay inside it', async () => {
  const env = { SECRET_FILES_DIR: join(folder, 'opened') };
  expect(await read(env, 'file', 'openai')).toBe('sk-file');
  expect(await read(env, 'file', 'leak')).toContain('there is no file leak');
  expect(await read(env, 'file', '../outside')).toContain('there is no file');
  expect(await read(env, 'file', 'absent')).toContain('there is no file absent');
  expect(await read(env, 'file', 'large')).toContain('is no file of at most 65536 bytes');
  expect(await read({}, 'file', 'openai')).toContain('has opened no files');
});
