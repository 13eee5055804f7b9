/** Serves the web console from memory, where it is kept compressed: its pages, and its assets under names that change with their content. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { pagePaths } from '../../console/paths.ts';
import { faultFields, type Log } from '../log.ts';
import { type ConsolePack, freshPack, packName, parsePack, savePack } from './console-pack.ts';
import { RouteTable } from './routes.ts';

/** Answers for the console's own paths, and null for all others. */
type ConsoleHandler = (request: Request) => Response | null;

interface Asset {
  type: string;
  gzip: Uint8Array<ArrayBuffer>;
  etag: string;
}

// `src/http` and `dist/program` stand equally deep.
const root = join(import.meta.dir, '../..');
const reserved = /^\/(v1|v2|docs|openapi\.json)(\/|$)/;

/** The console, built first when there is no pack or its sources have changed. */
export async function openConsole(log: Log): Promise<ConsoleHandler> {
  return serveConsole((await embeddedPack()) ?? freshPack(root) ?? (await build(log)));
}

async function embeddedPack(): Promise<ConsolePack | null> {
  const file = Bun.embeddedFiles.find((embedded) => 'name' in embedded && embedded.name === packName);
  return file ? parsePack(await file.text()) : null;
}

/** Builds in a process of its own: the memory that a build takes is not given back by the one that ran it. */
async function build(log: Log): Promise<ConsolePack> {
  const builder = Bun.spawn([process.execPath, join(root, 'scripts/build-console.ts')], { stderr: 'inherit' });
  const [text, code] = await Promise.all([new Response(builder.stdout).text(), builder.exited]);
  if (code !== 0) throw new Error('The console cannot be built; the lines above say why.');
  const pack = parsePack(text);
  try {
    savePack(root, pack);
  } catch (fault) {
    log.warn('The built console cannot be kept in dist; it will be built at every start.', faultFields(fault));
  }
  return pack;
}

export function serveConsole(pack: ConsolePack): ConsoleHandler {
  const assets = new Map(Object.entries(pack.assets).map(([path, asset]) => [path, unpack(asset)]));
  const index = assets.get('/index.html');
  if (!index) throw new Error('The console pack holds no index.html');
  assets.delete('/index.html');
  const pages = new RouteTable<true>();
  for (const path of pagePaths) pages.add('GET', path, true);
  const pageHeaders = { ...safety(new TextDecoder().decode(Bun.gunzipSync(index.gzip))), 'cache-control': 'no-cache' };

  return (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return null;
    const { pathname } = new URL(request.url);
    if (reserved.test(pathname)) return null;
    const asset = assets.get(pathname);
    if (asset) return send(request, asset, 200, assetHeaders);
    if (pages.match('GET', pathname).found === 'route') return send(request, index, 200, pageHeaders);
    // Whoever typed a wrong address into a browser gets the console's own page for it; programs get the JSON answer.
    const fromBrowser = request.headers.get('accept')?.includes('text/html') ?? false;
    return fromBrowser ? send(request, index, 404, pageHeaders) : null;
  };
}

function unpack({ type, gzip }: ConsolePack['assets'][string]): Asset {
  const compressed = new Uint8Array(Buffer.from(gzip, 'base64'));
  return { type, gzip: compressed, etag: `"${createHash('sha256').update(compressed).digest('base64url')}"` };
}

const assetHeaders = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
};

/** The console loads only its own files, runs only its own scripts and stands in nobody's frame. */
function safety(page: string): Record<string, string> {
  const inline = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return {
    'content-security-policy': [
      "default-src 'self'",
      ['script-src', "'self'", ...inline].join(' '),
      // Mantine writes its responsive styles into style elements.
      "style-src 'self' 'unsafe-inline'",
      "img-src 'self' data:",
      "object-src 'none'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    // The address of an invite is a credential; no other site may learn it.
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  };
}

function send(request: Request, asset: Asset, status: number, headers: Record<string, string>): Response {
  const all = new Headers({ ...headers, etag: asset.etag, vary: 'accept-encoding' });
  if (status === 200 && request.headers.get('if-none-match') === asset.etag) {
    return new Response(null, { status: 304, headers: all });
  }
  const zipped = acceptsGzip(request.headers.get('accept-encoding') ?? '');
  const body = zipped ? asset.gzip : Bun.gunzipSync(asset.gzip);
  all.set('content-type', asset.type);
  if (zipped) all.set('content-encoding', 'gzip');
  if (request.method === 'HEAD') all.set('content-length', String(body.byteLength));
  return new Response(request.method === 'HEAD' ? null : body, { status, headers: all });
}

const acceptsGzip = (accepted: string): boolean =>
  accepted.split(',').some((entry) => /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(entry));
