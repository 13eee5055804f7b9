/** The console over HTTP, and the pack that it is served from. */
import { describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveConsole } from './console.ts';
import { type ConsolePack, digestOfSources, freshPack, packFile } from './console-pack.ts';

const page = '<!doctype html><script>let scheme</script><script type="module" src="/assets/a-1.js"></script>';
const script = 'export default 1;'.repeat(50);

const asset = (type: string, text: string) => ({ type, gzip: Buffer.from(Bun.gzipSync(text)).toString('base64') });

const pack: ConsolePack = {
  sources: [],
  digest: '',
  assets: {
    '/index.html': asset('text/html;charset=utf-8', page),
    '/assets/a-1.js': asset('text/javascript;charset=utf-8', script),
  },
};

const serve = serveConsole(pack);

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  serve(new Request(`http://gw.test${path}`, { method, headers }));

describe('The console over HTTP', () => {
  test('each page is the console itself, never cached, and framed by nobody', async () => {
    for (const path of [
      '/',
      '/login',
      '/workspaces',
      '/workspaces/ws-a/members',
      '/invites/some-token',
      '/settings/',
    ]) {
      const response = ask(path);
      expect(response?.status).toBe(200);
      expect(await response?.text()).toBe(page);
      expect(response?.headers.get('cache-control')).toBe('no-cache');
      const policy = response?.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(response?.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response?.headers.get('referrer-policy')).toBe('no-referrer');
    }
  });

  test('the policy lets the inline script of the page run, by its digest', async () => {
    const digest = new Bun.CryptoHasher('sha256').update('let scheme').digest('base64');
    const response = ask('/');
    expect(response?.headers.get('content-security-policy')).toContain(`script-src 'self' 'sha256-${digest}'`);
  });

  test('assets are compressed for those who accept it, and kept for good', async () => {
    const zipped = ask('/assets/a-1.js', { 'accept-encoding': 'br, gzip;q=0.8' });
    expect(zipped?.headers.get('content-encoding')).toBe('gzip');
    expect(zipped?.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const bytes = new Uint8Array((await zipped?.arrayBuffer()) ?? new ArrayBuffer(0));
    expect(new TextDecoder().decode(Bun.gunzipSync(bytes))).toBe(script);
    for (const accepted of ['', 'br', 'gzip;q=0', 'gzip; q=0.0']) {
      const plain = ask('/assets/a-1.js', { 'accept-encoding': accepted });
      expect(plain?.headers.get('content-encoding')).toBeNull();
      expect(await plain?.text()).toBe(script);
    }
  });

  test('what the browser has already is not sent again', async () => {
    const etag = ask('/')?.headers.get('etag') ?? '';
    const again = ask('/', { 'if-none-match': etag });
    expect(again?.status).toBe(304);
    expect(await again?.text()).toBe('');
  });

  test('HEAD answers like GET, without the body', async () => {
    const response = ask('/assets/a-1.js', {}, 'HEAD');
    expect(response?.status).toBe(200);
    expect(response?.headers.get('content-length')).toBe(String(script.length));
    expect(await response?.text()).toBe('');
  });

  test('paths of others and other methods are left alone', async () => {
    for (const path of ['/v1', '/v1/workspaces', '/v2/nothing', '/docs', '/openapi.json']) {
      expect(ask(path, { accept: 'text/html' })).toBeNull();
    }
    expect(ask('/', {}, 'POST')).toBeNull();
    expect(ask('/no-such-page')).toBeNull();
    expect(ask('/index.html')).toBeNull();
    expect(ask('/assets/gone.js')).toBeNull();
  });

  test("a wrong address gives a browser the console's own page for it", async () => {
    const response = ask('/no-such-page', { accept: 'text/html,*/*' });
    expect(response?.status).toBe(404);
    expect(await response?.text()).toBe(page);
  });
});

test('a pack is used until a source that it was built from changes', () => {
  const root = mkdtempSync(join(tmpdir(), 'gw-pack-'));
  try {
    expect(freshPack(root)).toBeNull();
    mkdirSync(join(root, 'dist'));
    writeFileSync(join(root, 'a.ts'), 'one');
    const built = { ...pack, sources: ['a.ts'], digest: digestOfSources(root, ['a.ts']) };
    writeFileSync(packFile(root), JSON.stringify(built));
    expect(freshPack(root)).toEqual(built);
    writeFileSync(join(root, 'a.ts'), 'two');
    expect(freshPack(root)).toBeNull();
    writeFileSync(packFile(root), '{"sources":');
    expect(freshPack(root)).toBeNull();
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
