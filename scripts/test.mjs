/** Runs the tests with Bun, on two cores at once, and closes with `N passed, N failed`. Arguments choose files by a part of their path, so `npm test -- src/store` runs a part; those that begin with `-` are handed on. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { bunExecutable, ensureInstalled, root } from './installed.mjs';

/** Files of one process: few enough that both lanes end together, enough that starting a database for them is worth it. */
const filesAtOnce = 24;

ensureInstalled();
const asked = process.argv.slice(2);
const options = asked.filter((argument) => argument.startsWith('-'));
const parts = asked.filter((argument) => !argument.startsWith('-')).map((part) => part.replace(/^\.\//, ''));
const queue = chunksOf(testFiles());
const lanes = Math.min(2, availableParallelism(), queue.length);
const folder = mkdtempSync(join(tmpdir(), 'gw-test-report-'));
const running = new Set();
const results = [];
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    queue.length = 0;
    for (const child of running) child.kill(signal);
  });
}
await Promise.all(Array.from({ length: lanes }, lane));
rmSync(folder, { recursive: true, force: true });
report();

/** Journeys through the whole program take longest, so they come first. */
function testFiles() {
  const found = ['src', 'test', 'console']
    .flatMap((top) => readdirSync(join(root, top), { recursive: true }).map((path) => join(top, path)))
    .filter((path) => /\.test\.tsx?$/.test(path))
    .sort();
  const chosen = parts.length === 0 ? found : found.filter((file) => parts.some((part) => file.includes(part)));
  return [...chosen.filter((file) => file.startsWith('test/')), ...chosen.filter((file) => !file.startsWith('test/'))];
}

/** Neighbours go to different chunks: the slow ones stand together. */
function chunksOf(files) {
  const count = Math.ceil(files.length / filesAtOnce);
  return Array.from({ length: count }, (_, at) => files.filter((_, index) => index % count === at));
}

async function lane() {
  for (let files = queue.shift(); files; files = queue.shift()) results.push(await run(files));
}

/** A lone process writes as it goes; of several, each one's output stays together. */
function run(files) {
  const outfile = join(folder, `${results.length}-${files.length}-${Math.random().toString(36).slice(2)}.xml`);
  const output = [];
  const stdio = lanes === 1 ? 'inherit' : ['ignore', 'pipe', 'pipe'];
  const args = ['test', '--timeout=60000', '--reporter=junit', `--reporter-outfile=${outfile}`, ...options];
  const child = spawn(bunExecutable(), [...args, ...files.map((file) => `./${file}`)], { cwd: root, stdio });
  running.add(child);
  child.stdout?.on('data', (bytes) => output.push(bytes));
  child.stderr?.on('data', (bytes) => output.push(bytes));
  return new Promise((resolve) => {
    child.on('close', (code) => {
      running.delete(child);
      if (output.length > 0) process.stdout.write(Buffer.concat(output));
      resolve({ code, ...countsOf(outfile) });
    });
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
  const total = results.reduce((sum, result) => sum + result.total, 0);
  const skipped = results.flatMap((result) => result.skipped);
  const failedTests = results.flatMap((result) => result.failed);
  // Bun counts an error outside any test (a file that does not load) in its exit code alone.
  const broken = results.filter(({ code, failed }) => code !== 0 && failed.length === 0).length;
  const failed = failedTests.length + broken;
  if (total === 0) {
    process.stdout.write('no test ran\n');
    process.exit(1);
  }
  for (const name of skipped) process.stdout.write(`skipped: ${name}\n`);
  for (const name of failedTests) process.stdout.write(`failed: ${name}\n`);
  const alsoSkipped = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
  process.stdout.write(`${total - failedTests.length - skipped.length} passed, ${failed} failed${alsoSkipped}\n`);
  process.exit(failed > 0 ? 1 : 0);
}
