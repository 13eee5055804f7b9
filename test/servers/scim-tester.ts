/** The Python project scim2-tester, run against a SCIM server as a client that knows nothing but the address and the token. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

/** `.ci/run` installs it into a virtual environment there. */
const python = [process.env.GW_TEST_SCIM_PYTHON ?? '', join(homedir(), '.cache/gw-scim/bin/python')].find(
  (path) => path !== '' && existsSync(path),
);

/** False where it is not installed; tests that need it are then skipped by name. */
export const scimTesterInstalled =
  python !== undefined &&
  spawnSync(python, ['-c', 'import importlib.util as u; assert u.find_spec("scim2_tester")']).status === 0;

const finding = z.object({
  status: z.string(),
  check: z.string(),
  resource: z.string().nullable(),
  reason: z.string().nullable(),
});
type Finding = z.output<typeof finding>;

/** What each check found. */
export async function runScimTester(url: string, token: string): Promise<Finding[]> {
  if (!python) throw new Error('scim2-tester is not installed');
  const child = spawn(python, [join(import.meta.dir, 'scim-tester.py'), url, token], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`scim2-tester ended with ${code}`);
  return z.array(finding).parse(JSON.parse(output));
}
