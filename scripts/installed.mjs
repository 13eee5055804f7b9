/** Installs the dependencies when the lock file has changed since the last install, so that a fresh clone needs no extra step. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const stamp = join(root, 'node_modules', '.installed-lock');

const lockDigest = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');

export function ensureInstalled() {
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lockDigest) return;
  if (isInstalled()) return writeFileSync(stamp, lockDigest);
  process.stderr.write(
    'Installing dependencies (first run, or the lock file changed); this takes a minute or two ...\n',
  );
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const result = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error', '--progress=true'], {
    cwd: root,
    stdio: ['ignore', process.stderr, 'inherit'],
  });
  if (result.status !== 0) {
    process.stderr.write('npm ci failed: see the lines above, mend the cause and run the command again.\n');
    process.exit(1);
  }
  writeFileSync(stamp, lockDigest);
}

/** True when npm itself has installed what the lock file says; packages for other platforms may be missing. */
function isInstalled() {
  const installed = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installed)) return false;
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const found = JSON.parse(readFileSync(installed, 'utf8')).packages;
  return Object.entries(wanted).every(
    ([path, { version, optional }]) => path === '' || (found[path] ? found[path].version === version : optional),
  );
}

/** The Bun executable of this platform, taken straight from its package: no install script is needed. */
export function bunExecutable() {
  const arch = process.arch === 'arm64' ? 'aarch64' : process.arch;
  const require = createRequire(join(root, 'package.json'));
  for (const variant of ['', '-musl']) {
    try {
      return require.resolve(`@oven/bun-${process.platform}-${arch}${variant}/bin/bun`);
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  process.stderr.write(
    `No Bun package for ${process.platform} ${process.arch}; supported: Linux and macOS on x64 and arm64.\n`,
  );
  process.exit(1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) ensureInstalled();
