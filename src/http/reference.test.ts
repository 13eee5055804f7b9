/** The reference: the document as people read it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { startGateway, type TestGateway } from '../../test/harness.ts';
import { type OpenApiDocument, operationsOf } from './openapi-document.ts';
import { html, prose } from './reference/html.ts';

describe('the reference', () => {
  let gateway: TestGateway;
  let page: Response;
  let text: string;
  let document: OpenApiDocument;

  beforeAll(async () => {
    gateway = await startGateway();
    page = await fetch(`${gateway.url}/docs`);
    text = await page.text();
    document = await (await fetch(`${gateway.url}/openapi.json`)).json();
  });
  afterAll(() => gateway.stop());

  test('the document is served to anyone, as JSON', async () => {
    const reply = await gateway.get('/openapi.json', { key: '' });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('application/json');
    expect(reply.body.openapi).toBe('3.1.0');
  });

  test('both are compressed for whoever takes that, and plain for all others', async () => {
    for (const path of ['/openapi.json', '/docs']) {
      const ask = (accepted: string) =>
        fetch(gateway.url + path, { headers: { 'accept-encoding': accepted }, decompress: false });
      const plain = Buffer.from(await (await ask('identity')).arrayBuffer());
      const packed = await ask('br;q=1.0, gzip;q=0.5');
      expect([packed.headers.get('content-encoding'), packed.headers.get('vary')]).toEqual(['gzip', 'accept-encoding']);
      const bytes = Buffer.from(await packed.arrayBuffer());
      expect(gunzipSync(bytes).equals(plain)).toBe(true);
      expect(bytes.length).toBeLessThan(plain.length / 5);
      expect((await ask('gzip;q=0, br')).headers.get('content-encoding')).toBeNull();
    }
  });

  test('the page shows every operation of the document, and links to it', () => {
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    for (const { operation } of operationsOf(document)) {
      expect(text).toContain(`<article id="${operation.operationId}"`);
      expect(text).toContain(`href="#${operation.operationId}"`);
      expect(text).toContain(Bun.escapeHTML(operation.summary));
    }
  });

  test('anchors are unique', () => {
    const anchors = [...text.matchAll(/\sid="([^"]+)"/g)].map(([, anchor]) => anchor);
    expect(anchors).toEqual([...new Set(anchors)]);
  });

  test('nothing is fetched from elsewhere, and only its own style and script may run', () => {
    expect(text).not.toMatch(/<(?:link|img|iframe|object|embed)\b|\ssrc=|@import|url\(/);
    expect(text).not.toMatch(/\son\w+=|\sstyle=|javascript:/);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    for (const [tag, directive] of [
      ['style', 'style-src'],
      ['script', 'script-src'],
    ]) {
      const content = new RegExp(`<${tag}[^>]*>([\\s\\S]*?)</${tag}>`).exec(text)?.[1] ?? '';
      const digest = createHash('sha256').update(content).digest('base64');
      expect(policy).toContain(`${directive} 'sha256-${digest}'`);
    }
  });

  test('the page answers a reader who has it already with 304', async () => {
    const again = await fetch(`${gateway.url}/docs`, { headers: { 'if-none-match': page.headers.get('etag') ?? '' } });
    expect(again.status).toBe(304);
    expect((await fetch(`${gateway.url}/docs/`)).status).toBe(200);
  });

  test('other methods and neighbouring paths are not its business', async () => {
    expect((await gateway.post('/docs', {})).status).toBe(404);
    expect((await gateway.get('/docs/more')).status).toBe(404);
  });
});

describe('templates', () => {
  test('what is put into a template is escaped, unless it is HTML', () => {
    expect(html`<p>${'<script>"&'}${[html`<b>${1}</b>`, null]}</p>`.text).toBe(
      '<p>&lt;script&gt;&quot;&amp;<b>1</b></p>',
    );
  });

  test('backticks mark code', () => {
    expect(html`${prose('send `a<b` now')}`.text).toBe('send <code>a&lt;b</code> now');
  });
});
