/** The program as one file, made again when a source has changed: a thousand modules take 15 MB more than one, and longer to start. Run by itself, this names the file. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bunExecutable, root } from './installed.mjs';

/** The program, and what it starts as threads of their own. */
const entries = [
  'src/main.ts',
  'src/logs/importer-thread.ts',
  'src/logs/embedded/query-thread.ts',
  'src/cache/semantic/index-thread.ts',
];
/** What the program is made of besides `src`. */
const otherSources = ['console/paths.ts', 'package.json', 'package-lock.json', 'scripts/program.mjs'];
const folder = join(root, 'dist/program');
const stamp = join(folder, 'sources-digest');

/** The file to run in place of this one. */
export function builtFrom(file) {
  return file === entries[0] ? builtProgram() : join(root, file);
}

export function builtProgram() {
  const digest = digestOfSources();
  const program = join(folder, 'main.js');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return program;
  const draft = `${folder}.${process.pid}`;
  try {
    mkdirSync(draft, { recursive: true });
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    process.stderr.write(`The program runs from its sources, which takes more memory: ${error.message}\n`);
    return join(root, entries[0]);
  }
  build(draft);
  writeFileSync(join(draft, 'sources-digest'), digest);
  rmSync(stamp, { force: true });
  // One by one, the stamp last: another process that starts now finds whole files.
  for (const name of readdirSync(draft).sort()) renameSync(join(draft, name), join(folder, name));
  rmSync(draft, { recursive: true });
  return program;
}

function build(outdir) {
  const shape = ['--target=bun', '--entry-naming=[name].[ext]', '--minify-whitespace', '--minify-syntax'];
  const { status } = spawnSync(
    bunExecutable(),
    ['build', ...entries, ...shape, '--sourcemap=linked', `--outdir=${outdir}`],
    { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  if (status === 0) return;
  rmSync(outdir, { recursive: true });
  process.stderr.write('The program cannot be built: see the lines above.\n');
  process.exit(1);
}

function digestOfSources() {
  const own = readdirSync(join(root, 'src'), { recursive: true })
    .filter((path) => /\.(ts|json)$/.test(path) && !path.endsWith('.test.ts'))
    .map((path) => join('src', path));
  const hash = createHash('sha256');
  for (const path of [...own, ...otherSources].sort()) {
    hash.update(`${path}\0`).update(readFileSync(join(root, path)));
  }
  return hash.digest('hex');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(builtProgram());
