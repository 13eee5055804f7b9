import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { RefusedHead } from './request-head.ts';
import { RequestHeadCache } from './request-head-cache.ts';

const textOf = (...lines: string[]): string => lines.map((line) => `${line}\r\n`).join('');
const post = (...lines: string[]): string => textOf('POST /a HTTP/1.1', 'host: a', ...lines);

/** The head, or why it is refused. */
function readBy(heads: RequestHeadCache, text: string): object {
  try {
    return heads.read(text);
  } catch (fault) {
    if (!(fault instanceof RefusedHead)) throw fault;
    return { status: fault.status, message: fault.message };
  }
}

describe('a head that was read before', () => {
  test('is the very same one, whatever the length of the body', () => {
    const heads = new RequestHeadCache();
    const first = heads.read(post('content-length: 5', 'x: y'));
    const second = heads.read(post('Content-Length: 6', 'x: y'));
    expect(second.headers).toBe(first.headers);
    expect([first.framing, second.framing]).toEqual([
      { by: 'length', length: 5 },
      { by: 'length', length: 6 },
    ]);
  });

  test('cannot be changed for those who send it later', () => {
    const { fields } = new RequestHeadCache().read(post()).headers;
    expect(() => Object.assign(fields, { 'x-gw-api-key': 'another' })).toThrow();
  });

  test('lends its framing to no other', () => {
    const heads = new RequestHeadCache();
    const framings = [post('content-length: 5'), post(), post('content-length: 0'), post('content-length: 7')];
    expect(framings.map((text) => heads.read(text).framing)).toEqual([
      { by: 'length', length: 5 },
      null,
      null,
      { by: 'length', length: 7 },
    ]);
    expect(heads.read(post('transfer-encoding: chunked')).framing).toEqual({ by: 'chunks' });
    expect(() => heads.read(post('transfer-encoding: chunked', 'content-length: 5'))).toThrow(RefusedHead);
  });

  test('says what it would say alone, whichever heads came before it', () => {
    const line = fc.constantFrom(
      'content-length: 5',
      'Content-Length:\t12 ',
      'content-length: 0',
      'content-length:',
      'content-length: 5, 5',
      'content-length: +5',
      'x-content-length: 5',
      'x: content-length: 5',
      'transfer-encoding: chunked',
      'transfer-encoding: gzip',
      'connection: close',
      'expect: 100-continue',
      'host: b',
      'x: y',
    );
    const opening = fc.constantFrom('POST /a HTTP/1.1', 'GET /a?content-length:5 HTTP/1.1', 'POST /a HTTP/1.0');
    const text = fc
      .tuple(opening, fc.array(line, { maxLength: 4 }))
      .map(([first, lines]) => textOf(first, 'host: a', ...lines));
    fc.assert(
      fc.property(fc.array(text, { minLength: 2, maxLength: 8 }), (texts) => {
        const heads = new RequestHeadCache();
        for (const one of texts) expect(readBy(heads, one)).toEqual(readBy(new RequestHeadCache(), one));
      }),
      { numRuns: 2_000 },
    );
  });

  test('is forgotten in time', () => {
    const heads = new RequestHeadCache();
    const first = heads.read(post());
    for (let count = 0; count < 1_000; count++) heads.read(post(`x: ${count}`));
    expect(heads.read(post())).toEqual(first);
    expect(heads.read(post()).headers).not.toBe(first.headers);
  });
});
