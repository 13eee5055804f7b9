/** Builds `dist/gw`: the whole program with its console in one executable that needs nothing installed. */
import { join } from 'node:path';
import { packFile, savePack } from '../src/http/console-pack.ts';
import { buildConsole } from './build-console.ts';

const root = join(import.meta.dir, '..');
savePack(root, await buildConsole(root));
const outfile = join(root, 'dist/gw');
await Bun.build({
  // A thread of its own starts from its own file, which must be embedded by name.
  entrypoints: [
    join(root, 'src/main.ts'),
    join(root, 'src/logs/importer-thread.ts'),
    join(root, 'src/logs/embedded/query-thread.ts'),
    join(root, 'src/cache/semantic/index-thread.ts'),
    packFile(root),
  ],
  compile: { outfile },
  minify: { whitespace: true, syntax: true },
  // The program finds the pack among its embedded files by this name.
  naming: { asset: '[name].[ext]' },
});
console.log(`dist/gw: ${(Bun.file(outfile).size / 1e6).toFixed(0)} MB, run it with: dist/gw serve`);
