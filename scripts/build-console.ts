/** Builds the console from `console/index.html` into one file, `dist/console.pack`. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { type ConsolePack, digestOfSources, packFile } from '../src/http/console-pack.ts';

export async function buildConsole(root: string): Promise<ConsolePack> {
  const built = await Bun.build({
    entrypoints: [join(root, 'console/index.html')],
    minify: true,
    metafile: true,
    publicPath: '/',
    define: { 'process.env.NODE_ENV': '"production"' },
    naming: { chunk: 'assets/[name]-[hash].[ext]', asset: 'assets/[name]-[hash].[ext]' },
  });
  const sources = sourcesIn(root, Object.keys(built.metafile?.inputs ?? {}));
  const assets: ConsolePack['assets'] = {};
  for (const output of built.outputs) {
    const bytes = new Uint8Array(await output.arrayBuffer());
    const gzip = Buffer.from(Bun.gzipSync(bytes, { level: 9 })).toString('base64');
    assets[output.path.replace(/^\.?\/?/, '/')] = { type: output.type, gzip };
  }
  return { sources, digest: digestOfSources(root, sources), assets };
}

/** Packages are covered by the lock file; a new source file is always named by one that changed. */
function sourcesIn(root: string, inputs: readonly string[]): string[] {
  const own = inputs.map((input) => relative(root, resolve(input))).filter((path) => !path.includes('node_modules'));
  return [...own, 'package-lock.json', 'scripts/build-console.ts'].sort();
}

/** Another process that starts now sees the old file or the new one, never half of it. */
export function savePack(root: string, pack: ConsolePack): void {
  const file = packFile(root);
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(pack));
  renameSync(draft, file);
}

if (import.meta.main) {
  const started = performance.now();
  const root = join(import.meta.dir, '..');
  const pack = await buildConsole(root);
  savePack(root, pack);
  const kilobytes = Object.values(pack.assets).reduce((sum, asset) => sum + (asset.gzip.length * 3) / 4, 0) / 1000;
  const seconds = (performance.now() - started) / 1000;
  console.log(`dist/console.pack: ${kilobytes.toFixed(0)} kB compressed, built in ${seconds.toFixed(1)} s`);
}
