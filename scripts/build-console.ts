/** Builds the console from `console/index.html` into one pack; run by itself, writes it to standard output. */
import { join, relative, resolve } from 'node:path';
import { type ConsolePack, digestOfSources } from '../src/http/console-pack.ts';

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

if (import.meta.main) process.stdout.write(JSON.stringify(await buildConsole(join(import.meta.dir, '..'))));
