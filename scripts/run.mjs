/** Runs a TypeScript file with the pinned Bun: `node scripts/run.mjs <file> [arguments]`. */
import { spawn } from 'node:child_process';
import { bunExecutable, ensureInstalled } from './installed.mjs';

ensureInstalled();
const child = spawn(bunExecutable(), process.argv.slice(2), { stdio: 'inherit' });
// A terminal sends SIGINT to the whole group; a supervisor sends SIGTERM to this process only.
process.on('SIGINT', () => undefined);
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 128 : 1)));
