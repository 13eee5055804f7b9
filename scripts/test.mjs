/** Runs the tests with Bun and closes with `N passed, N failed`; arguments are handed on, so `npm test -- src/store` runs a part. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bunExecutable, ensureInstalled, root } from './installed.mjs';

ensureInstalled();
const folder = mkdtempSync(join(tmpdir(), 'gw-test-report-'));
const report = join(folder, 'junit.xml');
const child = spawn(
  bunExecutable(),
  ['test', '--timeout=60000', '--reporter=junit', `--reporter-outfile=${report}`, ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => {
  const counts = readCounts();
  rmSync(folder, { recursive: true, force: true });
  if (!counts || counts.total === 0) {
    process.stdout.write('no test ran\n');
    process.exit(code || 1);
  }
  for (const name of counts.skippedNames) process.stdout.write(`skipped: ${name}\n`);
  const skipped = counts.skippedNames.length > 0 ? `, ${counts.skippedNames.length} skipped` : '';
  // Bun counts an error outside any test (a file that does not load) in its exit code alone.
  const failed = counts.failed === 0 && code !== 0 ? 1 : counts.failed;
  process.stdout.write(
    `${counts.total - counts.failed - counts.skippedNames.length} passed, ${failed} failed${skipped}\n`,
  );
  process.exit(code ?? 1);
});

function readCounts() {
  let xml;
  try {
    xml = readFileSync(report, 'utf8');
  } catch {
    return null;
  }
  const cases = xml.match(/<testcase\b[^>]*?(?:\/>|>[\s\S]*?<\/testcase>)/g) ?? [];
  const skippedNames = cases.filter((c) => c.includes('<skipped')).map((c) => /\bname="([^"]*)"/.exec(c)?.[1] ?? '?');
  return { total: cases.length, failed: cases.filter((c) => c.includes('<failure')).length, skippedNames };
}
