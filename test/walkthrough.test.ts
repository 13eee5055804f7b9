/** The commands on the pages for users run as written, from top to bottom, against a fresh start. */
import { afterAll, afterEach, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway, type TestGateway } from './harness.ts';

const root = join(import.meta.dir, '..');
const pages = [
  'README.md',
  'docs/getting-started.md',
  'docs/administration.md',
  'docs/gateway.md',
  'docs/jwt.md',
  'docs/limits.md',
  'docs/agents.md',
  'docs/mcp.md',
  'docs/scim.md',
  'docs/prompts.md',
  'docs/cache.md',
  'docs/sandbox.md',
  'docs/logs.md',
  'docs/secret-references.md',
  'docs/analytics.md',
] as const;

/** Starting, testing and building have tests of their own. */
const elsewhere = /^(npm (start|test|run)|dist\/gw)/m;

/** Lines in which a reader puts their own values, or installs an SDK; here both are there already. */
const provided = /^(export (GW|\w+=\.\.\.)|npm init).*$/gm;

function commandsOf(page: string): string {
  const blocks = [...readFileSync(join(root, page), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)];
  return blocks
    .map(([, text = '']) => text.replace(provided, ''))
    .filter((text) => !elsewhere.test(text))
    .join('\n');
}

/** Ends at the first command that fails, and counts an answer of 400 or above as a failure. */
const preamble = `
set -eo pipefail
curl() { command curl --fail-with-body --show-error "$@"; }
`;

function run(script: string, env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const child = spawn('bash', ['--norc', '-c', preamble + script], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', ...env },
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })));
}

const folder = mkdtempSync(join(tmpdir(), 'gw-walkthrough-'));
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let gateway: TestGateway | null = null;
afterEach(async () => {
  await gateway?.stop();
  gateway = null;
});

test.each(pages)('the commands of %s', async (page) => {
  const script = commandsOf(page);
  expect(script).toContain('curl');
  // As a fresh start does, it trusts the hosts of its own machine.
  gateway = await startGateway({ TRUSTED_CUSTOM_HOSTS: 'localhost,127.0.0.1,::1' });
  const { adminKey: ADMIN, workspaceKey: KEY, owner } = gateway;
  const { code, output } = await run(script, { GW: gateway.url, ADMIN, KEY, PASSWORD: owner.password });
  expect({ code, output: code === 0 ? '' : output.slice(-2_000) }).toEqual({ code: 0, output: '' });
  expect(gateway.faults).toEqual([]);
});
