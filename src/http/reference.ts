/** Serves the OpenAPI document at `/openapi.json` and the reference page made from it at `/docs`. Both work offline. */
import { createHash } from 'node:crypto';
import { type InTurns, inTurns } from '../in-turns.ts';
import { lazy } from '../lazy.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import { referencePage } from './reference/page.ts';
import { script } from './reference/script.ts';
import { style } from './reference/style.ts';
import type { WebHandler } from './web.ts';

const allow = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The page may use its own style and script, and nothing else from anywhere. */
const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src ${allow(style)}`,
  `script-src ${allow(script)}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Both are made when they are first asked for, in turns: most starts never need them, and other calls do not wait for them. */
export function createReference(makeDocument: () => InTurns<OpenApiDocument>): WebHandler {
  const document = lazy(() => inTurns(makeDocument()));
  const pages = new Map<string, () => Promise<Served>>([
    [
      '/openapi.json',
      lazy(async () => serve(JSON.stringify(await document()), { 'content-type': 'application/json' })),
    ],
    [
      '/docs',
      lazy(async () =>
        serve(await inTurns(referencePage(await document())), {
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': contentSecurityPolicy,
          'referrer-policy': 'no-referrer',
        }),
      ),
    ],
  ]);
  const answer = (request: Request, found: Served): Response => {
    const unchanged = request.headers.get('if-none-match') === found.headers.etag;
    if (unchanged) return new Response(null, { status: 304, headers: found.headers });
    if (!takesGzip(request)) return new Response(found.text, { headers: found.headers });
    return new Response(found.packed(), { headers: { ...found.headers, 'content-encoding': 'gzip' } });
  };
  return (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return null;
    const path = new URL(request.url).pathname.replace(/(?<=.)\/$/, '');
    const page = pages.get(path);
    return page ? page().then((found) => answer(request, found)) : null;
  };
}

/** A weight of nothing is a refusal. */
const takesGzip = (request: Request): boolean =>
  /(?:^|,)\s*gzip\s*(?!;\s*q=0(?:\.0*)?\s*(?:,|$))(?:,|;|$)/i.test(request.headers.get('accept-encoding') ?? '');

interface Served {
  text: string;
  packed(): Uint8Array<ArrayBuffer>;
  headers: { etag: string } & Record<string, string>;
}

const serve = (text: string, headers: Record<string, string>): Served => ({
  text,
  packed: lazy(() => Bun.gzipSync(text)),
  headers: {
    ...headers,
    etag: `"${Bun.hash(text).toString(36)}"`,
    'cache-control': 'no-cache',
    vary: 'accept-encoding',
    'x-content-type-options': 'nosniff',
  },
});
