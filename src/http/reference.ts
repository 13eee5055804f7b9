/** Serves the OpenAPI document at `/openapi.json` and the reference page made from it at `/docs`. Both work offline. */
import { createHash } from 'node:crypto';
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

/** Both are made when they are first asked for: most starts never need them. */
export function createReference(document: () => OpenApiDocument): WebHandler {
  const pages = new Map<string, () => Served>([
    ['/openapi.json', lazy(() => serve(JSON.stringify(document()), { 'content-type': 'application/json' }))],
    [
      '/docs',
      lazy(() =>
        serve(referencePage(document()), {
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': contentSecurityPolicy,
          'referrer-policy': 'no-referrer',
        }),
      ),
    ],
  ]);
  return (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return null;
    const path = new URL(request.url).pathname.replace(/(?<=.)\/$/, '');
    const found = pages.get(path)?.();
    if (!found) return null;
    const unchanged = request.headers.get('if-none-match') === found.headers.etag;
    if (unchanged) return new Response(null, { status: 304, headers: found.headers });
    if (!takesGzip(request)) return new Response(found.text, { headers: found.headers });
    return new Response(found.packed(), { headers: { ...found.headers, 'content-encoding': 'gzip' } });
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
