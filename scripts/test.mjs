/** Runs the tests with Bun, on several cores at once, and closes with `N passed, N failed`. Arguments choose files by a part of their path, so `npm test -- src/store` runs a part; those that begin with `-` are handed on. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { bunExecutable, ensureInstalled, root } from './installed.mjs';
import { builtProgram } from './program.mjs';

const mostWorkers = 4;
/** How long each file took, so that the slowest start first; `npm test -- --update-timings` writes it anew. */
const timings = 'scripts/test-timings.json';
/** Databases of tests live in memory where there is this much of it: every administrative write waits for its disk. */
const memoryBytes = 4e9;

ensureInstalled();
const asked = process.argv.slice(2);
const options = asked.filter((argument) => argument.startsWith('-'));
const parts = asked.filter((argument) => !argument.startsWith('-')).map((part) => part.replace(/^\.\//, ''));
const files = testFiles();
if (files.length === 0) {
  process.stderr.write(`No test file has ${parts.join(' or ')} in its path.\n`);
  process.exit(1);
}
const folder = temporaryFolder();
const { code, total, failed, skipped } = await run();
rmSync(folder, { recursive: true, force: true });
report();

function testFiles() {
  const found = ['src', 'test', 'console']
    .flatMap((top) => readdirSync(join(root, top), { recursive: true }).map((path) => join(top, path)))
    .filter((path) => /\.test\.tsx?$/.test(path))
    .sort();
  return parts.length === 0 ? found : found.filter((file) => parts.some((part) => file.includes(part)));
}

function temporaryFolder() {
  const made = mkdtempSync(join(memoryFolder() ?? tmpdir(), 'gw-test-run-'));
  // PostgreSQL runs as a user of its own.
  chmodSync(made, 0o755);
  return made;
}

function memoryFolder() {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize >= memoryBytes ? '/dev/shm' : null;
  } catch {
    // Not every system has one.
    return null;
  }
}

/** The workers of one run keep their modules and servers from file to file. */
function run() {
  const outfile = join(folder, 'report.xml');
  const workers = Math.min(mostWorkers, availableParallelism(), files.length);
  // Workers that need the program find it built, and do not build it twice.
  if (workers > 1) builtProgram();
  const args = [
    'test',
    // Far more than any test takes: only a hang is ended, never a test on a busy machine.
    '--timeout=300000',
    '--reporter=junit',
    `--reporter-outfile=${outfile}`,
    `--timings=${timings}`,
    ...(workers > 1 ? [`--parallel=${workers}`, '--no-isolate'] : []),
    ...options,
    ...files.map((file) => `./${file}`),
  ];
  const child = spawn(bunExecutable(), args, { cwd: root, stdio: 'inherit', env: { ...process.env, TMPDIR: folder } });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.on('close', (exitCode) => resolve({ code: exitCode, ...countsOf(outfile) }));
  });
}

function countsOf(outfile) {
  let xml;
  try {
    xml = readFileSync(outfile, 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return { total: 0, failed: [], skipped: [] };
  }
  const cases = xml.match(/<testcase\b[^>]*?(?:\/>|>[\s\S]*?<\/testcase>)/g) ?? [];
  const named = (mark) => cases.filter((c) => c.includes(mark)).map((c) => /\bname="([^"]*)"/.exec(c)?.[1] ?? '?');
  return { total: cases.length, failed: named('<failure'), skipped: named('<skipped') };
}

function report() {
  // Bun counts an error outside any test (a file that does not load) in its exit code alone.
  const failures = failed.length + (code !== 0 && failed.length === 0 ? 1 : 0);
  if (total === 0) {
    process.stdout.write('no test ran\n');
    process.exit(1);
  }
  for (const name of skipped) process.stdout.write(`skipped: ${name}\n`);
  for (const name of failed) process.stdout.write(`failed: ${name}\n`);
  const alsoSkipped = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
  process.stdout.write(`${total - failed.length - skipped.length} passed, ${failures} failed${alsoSkipped}\n`);
  process.exit(failures > 0 ? 1 : 0);
}
