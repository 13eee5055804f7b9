/** Installs and builds what a TypeScript file needs, and tells `run.sh` in words of the shell what to run: `node scripts/prepare.mjs <file>`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bunExecutable, ensureInstalled, root } from './installed.mjs';
import { builtFrom } from './program.mjs';

ensureInstalled();
const [file = ''] = process.argv.slice(2);
// Settings of the allocator that save a twelfth of the CPU of a call; the runtime reads them only as it starts.
const settings = JSON.parse(readFileSync(join(root, 'scripts/runtime-settings.json'), 'utf8'));
const unset = Object.entries(settings).filter(([name]) => process.env[name] === undefined);
const words = [
  ...unset.map(([name, value]) => `export ${name}=${quoted(value)}`),
  `bun=${quoted(bunExecutable())}`,
  `program=${quoted(builtFrom(file))}`,
];
process.stdout.write(`${words.join('\n')}\n`);

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
