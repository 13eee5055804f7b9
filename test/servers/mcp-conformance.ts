/** Runs the MCP project's conformance suite, where it is installed, and reads its results. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

const folder = join(homedir(), '.cache', 'gw-mcp-conformance', 'node_modules');
const program = (version: string) => join(folder, `conformance-${version}`, 'dist', 'index.js');

/** The last version that knows the session era alone, and one that knows both. */
export const suites = { session: '0.1.16', both: '0.2.0-alpha.12' } as const;

export const conformanceInstalled = Object.values(suites).every((version) => existsSync(program(version)));

const checksForm = z.array(z.looseObject({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }));

/** What a run found: each scenario with its checks, and why those that failed did. */
export interface Findings {
  scenarios: string[];
  passed: Set<string>;
  /** Checks that found another behaviour which the protocol allows as well. */
  noted: Set<string>;
  failed: Map<string, string>;
}

/** Runs one command of the suite; it ends with a status of its own when a scenario fails, which is no fault here. */
export async function runConformance(
  version: string,
  command: readonly string[],
  { env = {}, onOutput }: { env?: Record<string, string>; onOutput?: (text: string) => void } = {},
): Promise<Findings> {
  const results = mkdtempSync(join(tmpdir(), 'gw-conformance-'));
  try {
    const run = Bun.spawn([process.execPath, program(version), ...command, '--output-dir', results], {
      stdout: 'pipe',
      stderr: 'ignore',
      env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    });
    for await (const chunk of run.stdout.pipeThrough(new TextDecoderStream())) onOutput?.(chunk);
    await run.exited;
    return findingsIn(results);
  } finally {
    rmSync(results, { recursive: true, force: true });
  }
}

function findingsIn(results: string): Findings {
  const found: Findings = { scenarios: [], passed: new Set(), noted: new Set(), failed: new Map() };
  const files = readdirSync(results, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('checks.json'),
  );
  for (const path of files.sort()) {
    const scenario = path.replace(/[/\\]checks\.json$/, '').replace(/-\d{4}-\d\d-\d\dT[\d:.-]+Z?$/, '');
    found.scenarios.push(scenario);
    for (const { id, status, errorMessage = '' } of checksForm.parse(
      JSON.parse(readFileSync(join(results, path), 'utf8')),
    )) {
      const name = `${scenario}: ${id}`;
      if (status === 'SUCCESS') found.passed.add(name);
      if (status === 'INFO') found.noted.add(name);
      if (status === 'FAILURE' || status === 'WARNING') found.failed.set(name, errorMessage);
    }
  }
  return found;
}
