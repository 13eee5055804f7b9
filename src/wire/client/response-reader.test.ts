import { describe, expect, test } from 'bun:test';
import type { WireAnswer } from './answer.ts';
import { readThrough } from './collected.ts';
import { ResponseReader } from './response-reader.ts';

const flow = { pause: () => undefined, resume: () => undefined, abandon: () => undefined };

interface Heard {
  status: number;
  fields: Record<string, string>;
  /** What could be read of the body; null where there is none. */
  body: string | null;
  /** The code of the fault that ended it. */
  fault: string | null;
  over: boolean;
  seconds: number;
}

/** What a reader hears when these pieces arrive one after the other, and then perhaps the end of the connection. */
async function heard(
  pieces: readonly string[],
  { method = 'POST', closes = false }: { method?: string; closes?: boolean | Error } = {},
): Promise<Heard | string> {
  const turn = new ResponseReader(flow, method);
  const answer = turn.answer.catch(codeOf);
  try {
    for (const piece of pieces) if (!turn.over) turn.receive(Buffer.from(piece, 'latin1'));
  } catch (fault) {
    turn.break(fault);
  }
  const { over } = turn;
  if (closes) turn.closed(closes === true ? null : closes);
  else if (!over) turn.break(new Error('still open'));
  const said = await answer;
  return typeof said === 'string' ? said : { ...(await read(said)), over, seconds: turn.worthKeeping };
}

async function read({ status, headers, body }: WireAnswer): Promise<Omit<Heard, 'over' | 'seconds'>> {
  const fields = 'fields' in headers ? { ...headers.fields } : {};
  if (!body) return { status, fields, body: null, fault: null };
  let text = '';
  try {
    for (;;) {
      const { done, value } = await body.read();
      if (done) return { status, fields, body: text, fault: null };
      text += Buffer.from(value).toString('latin1');
    }
  } catch (fault) {
    return { status, fields, body: text, fault: codeOf(fault) };
  }
}

const codeOf = (fault: unknown): string =>
  fault instanceof Error ? ('code' in fault ? String(fault.code) : fault.message) : String(fault);

const head = (...lines: string[]): string => `${['HTTP/1.1 200 OK', ...lines].join('\r\n')}\r\n\r\n`;
const withLength = `${head('Content-Length: 11', 'X-One: 1')}hello world`;
const inChunks = `${head('Transfer-Encoding: chunked')}5;name="v;w"\r\nhello\r\n6 \r\n world\r\n0;last\r\nx-trailer: 1\r\n\r\n`;

const cutAt = (text: string, at: number): string[] => [text.slice(0, at), text.slice(at)];

describe('an answer is the same wherever it is cut', () => {
  test.each([
    ['by its length', withLength],
    ['in chunks', inChunks],
    ['behind interim answers', `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${withLength}`],
  ])('%s', async (_, text) => {
    const whole = await heard([text]);
    expect(whole).toMatchObject({ status: 200, body: 'hello world', fault: null, over: true, seconds: 59 });
    for (let at = 1; at < text.length; at++) expect(await heard(cutAt(text, at))).toEqual(whole);
    expect(await heard([...text])).toEqual(whole);
  });
});

describe('an answer that breaks off is never taken for a whole one', () => {
  test.each([
    ['by its length', withLength],
    ['in chunks', inChunks],
  ])('%s', async (_, text) => {
    for (let at = 0; at < text.length; at++) {
      const said = await heard([text.slice(0, at)], { closes: true });
      expect(typeof said === 'string' ? said : said.fault).toBe('ConnectionClosed');
    }
  });

  test('until the connection closes, unless that was reset', async () => {
    const text = `${head()}hello`;
    expect(await heard([text], { closes: true })).toMatchObject({ body: 'hello', fault: null, seconds: 0 });
    expect(await heard([text], { closes: new Error('reset') })).toMatchObject({ body: 'hello', fault: 'reset' });
    expect(await heard([text])).toMatchObject({ over: false });
  });
});

describe('answers without a body', () => {
  test.each([
    ['204', 'POST', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['204 that tells a length', 'POST', 'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n'],
    ['304', 'GET', 'HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n'],
    ['to HEAD', 'HEAD', head('content-length: 5')],
    ['to HEAD, in chunks', 'HEAD', head('transfer-encoding: chunked')],
    ['to HEAD, without any length', 'HEAD', head()],
  ])('%s', async (_, method, text) => {
    expect(await heard([text], { method })).toMatchObject({ body: null, over: true, seconds: 59 });
    expect(await heard([`${text}hello`], { method })).toMatchObject({ body: null, over: true, seconds: 0 });
  });

  test('a length of zero is a body without bytes', async () => {
    expect(await heard([head('content-length: 0')])).toMatchObject({ body: '', over: true, seconds: 59 });
    expect(await heard([`${head('content-length: 0')}x`])).toMatchObject({ body: '', over: true, seconds: 0 });
  });
});

describe('what is no head is refused', () => {
  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['a TLS alert', '\x15\x03\x01\x00\x02\x02\x46'],
    ['another version', 'HTTP/2 200 OK\r\n\r\n'],
    ['another minor version', 'HTTP/1.2 200 OK\r\n\r\n'],
    ['small letters', 'http/1.1 200 OK\r\n\r\n'],
    ['a blank line first', `\r\n${withLength}`],
    ['two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a status below 100', 'HTTP/1.1 099 OK\r\n\r\n'],
    ['two spaces', 'HTTP/1.1  200 OK\r\n\r\n'],
    ['another protocol that nobody asked for', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'],
    ['bare line feeds', 'HTTP/1.1 200 OK\ncontent-length: 0\n\n'],
    ['a bare line feed behind the status', 'HTTP/1.1 200 OK\ncontent-length: 0\r\n\r\n'],
    ['a bare line feed in the fields', head('a: 1\nb: 2', 'content-length: 0')],
    ['a bare line feed at the end of a field', head('a: 1\nb: 2\nc: 3', 'content-length: 0')],
    ['a stray return', head('a: 1\rb: 2', 'content-length: 0')],
    ['a return in a name', head('a\r: 1', 'content-length: 0')],
    ['a return in the status line', 'HTTP/1.1 200 O\rK\r\ncontent-length: 0\r\n\r\n'],
    ['NUL in a value', head('a: 1\0', 'content-length: 0')],
    ['NUL in the status line', 'HTTP/1.1 200 \0\r\ncontent-length: 0\r\n\r\n'],
    ['a folded line', head('a: 1', ' folded', 'content-length: 0')],
    ['a folded line with a colon', head('a: 1', '\tb: 2', 'content-length: 0')],
    ['a field without a name', head(': 1', 'content-length: 0')],
    ['a field without a colon', head('nothing', 'content-length: 0')],
    ['a blank before the colon', head('content-length : 0')],
    ['a name with brackets', head('a(b): 1', 'content-length: 0')],
    ['a name beyond ASCII', head('f\xfc: 1', 'content-length: 0')],
    ['a length with a sign', head('content-length: +5')],
    ['a length below zero', head('content-length: -1')],
    ['a length in hex', head('content-length: 0x5')],
    ['a length without digits', head('content-length:')],
    ['a length beyond numbers', head('content-length: 9999999999999999')],
    ['two lengths', head('content-length: 5', 'content-length: 6')],
    ['two lengths in one', head('content-length: 5, 6')],
    ['a second length that is none', head('content-length: 5', 'content-length:')],
    ['an unknown transfer encoding', head('transfer-encoding: gzip')],
    ['chunks within another encoding', head('transfer-encoding: gzip, chunked')],
    ['chunks twice', head('transfer-encoding: chunked', 'transfer-encoding: chunked')],
    ['a transfer encoding without a name', head('transfer-encoding:')],
  ])('%s', async (_, text) => {
    expect(await heard([text])).toBe('InvalidAnswer');
  });

  test('a head of 256 KiB is read, a larger one is not, nor one without end', async () => {
    const filled = (size: number) => {
      const rest = `HTTP/1.1 200 OK\r\ncontent-length: 0\r\na: `;
      return `${rest}${'x'.repeat(size - rest.length)}\r\n\r\n`;
    };
    const most = 256 * 1024;
    expect(await heard([filled(most)])).toMatchObject({ status: 200, body: '' });
    expect(await heard([filled(most + 1)])).toBe('HeadTooLarge');
    expect(await heard(cutAt(filled(most + 1), most / 2))).toBe('HeadTooLarge');
    expect(await heard([`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(most)}`])).toBe('HeadTooLarge');
  });

  test('interim answers without end', async () => {
    const interim = 'HTTP/1.1 100 \r\n\r\n';
    expect(await heard([interim.repeat(1_000) + withLength])).toMatchObject({ status: 200, body: 'hello world' });
    expect(await heard([interim.repeat(100_000)])).toBe('HeadTooLarge');
    expect(await heard(Array.from({ length: 20_000 }, () => interim))).toBe('HeadTooLarge');
  });
});

describe('what a head may say', () => {
  test('a status line without a reason, or with one beyond ASCII', async () => {
    expect(await heard(['HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n'])).toMatchObject({ status: 200 });
    expect(await heard(['HTTP/1.1 200 \r\ncontent-length: 0\r\n\r\n'])).toMatchObject({ status: 200 });
    expect(await heard(['HTTP/1.1 299 sch\xf6n\r\ncontent-length: 0\r\n\r\n'])).toMatchObject({ status: 299 });
  });

  test('names that objects have of themselves are names like others', async () => {
    const said = await heard([head('__proto__: a', 'constructor: b', 'toString: c', 'content-length: 0')]);
    if (typeof said === 'string') throw new Error(said);
    expect(Object.entries(said.fields)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['tostring', 'c'],
      ['content-length', '0'],
    ]);
    const turn = new ResponseReader(flow, 'GET');
    turn.receive(Buffer.from(head('content-length: 0')));
    const { headers } = await turn.answer;
    expect([headers.get('constructor'), headers.has('__proto__'), headers.get('Content-Length')]).toEqual([
      null,
      false,
      '0',
    ]);
  });

  test('values keep every byte but the blanks around them', async () => {
    const said = await heard([
      head('a: \t x y \t', 'b:', 'c: gr\xfc\xdf', 'd: \xc3\xa0', 'e:\xa0', 'f: a:b', 'content-length: 0'),
    ]);
    expect(said).toMatchObject({ fields: { a: 'x y', b: '', c: 'gr\xfc\xdf', d: '\xc3\xa0', e: '\xa0', f: 'a:b' } });
  });

  test('a name that comes twice has both values', async () => {
    const said = await heard([head('Via: a', 'via: b', 'content-length: 0')]);
    expect(said).toMatchObject({ fields: { via: 'a, b' } });
  });

  test('the same length twice is that length', async () => {
    const twice = head('content-length: 5', 'content-length: 5');
    expect(await heard([`${twice}hello`])).toMatchObject({ body: 'hello', over: true });
  });
});

describe('for how long the connection is worth keeping', () => {
  test.each([
    [59, 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
    [59, head('connection: keep-alive', 'content-length: 0')],
    [0, head('connection: close', 'content-length: 0')],
    [0, head('Connection: Keep-Alive, Close', 'content-length: 0')],
    [0, 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n'],
    [59, 'HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\ncontent-length: 0\r\n\r\n'],
    [0, 'HTTP/1.0 200 OK\r\nconnection: keep-alive, close\r\ncontent-length: 0\r\n\r\n'],
    [0, 'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    [0, `${head('transfer-encoding: chunked', 'content-length: 5')}0\r\n\r\n`],
    [4, head('keep-alive: timeout=5, max=100', 'content-length: 0')],
    [59, head('Keep-Alive: Timeout=600', 'content-length: 0')],
    [59, head('keep-alive: max=100', 'content-length: 0')],
    [0, `${head('content-length: 5')}hello!`],
    [0, `${inChunks}HTTP/1.1 200 OK\r\n`],
  ])('%d seconds: %j', async (seconds, text) => {
    expect(await heard([text])).toMatchObject({ over: true, seconds });
  });

  test('not at all when the server gives it a second or less', async () => {
    for (const timeout of [0, 1]) {
      const said = await heard([head(`keep-alive: timeout=${timeout}`, 'content-length: 0')]);
      expect(typeof said === 'string' || said.seconds <= 0).toBe(true);
    }
  });
});

describe('chunks', () => {
  const chunked = (text: string) => heard([head('transfer-encoding: chunked') + text]);

  test('sizes are in hex of either case, with zeros before them', async () => {
    const text = 'x'.repeat(0xab);
    expect(await chunked(`aB\r\n${text}\r\n0\r\n\r\n`)).toMatchObject({ body: text, fault: null });
    expect(await chunked(`00000000000000000005\r\nhello\r\n000\r\n\r\n`)).toMatchObject({ body: 'hello', fault: null });
    expect(await heard([`${head('Transfer-Encoding: Chunked')}0\r\n\r\n`])).toMatchObject({ body: '', over: true });
  });

  test.each([
    ['no size', '\r\nhello\r\n0\r\n\r\n'],
    ['an extension without a size', ';a=b\r\nhello\r\n0\r\n\r\n'],
    ['a blank before the size', ' 5\r\nhello\r\n0\r\n\r\n'],
    ['a size with a sign', '-5\r\nhello\r\n0\r\n\r\n'],
    ['a size with a prefix', '0x5\r\nhello\r\n0\r\n\r\n'],
    ['no digits', 'g\r\nhello\r\n0\r\n\r\n'],
    ['two sizes', '5 5\r\nhello\r\n0\r\n\r\n'],
    ['a size beyond numbers', 'fffffffffffffff\r\nhello'],
    ['a size without end', '0'.repeat(9_000)],
    ['an extension without end', `5;${'x'.repeat(9_000)}`],
    ['a bare line feed behind the size', '5\nhello\r\n0\r\n\r\n'],
    ['a stray return in an extension', '5;a\rb\r\nhello\r\n0\r\n\r\n'],
    ['no line end behind the data', '5\r\nhello0\r\n\r\n'],
    ['a bare line feed behind the data', '5\r\nhello\n0\r\n\r\n'],
    ['too much data', '5\r\nhello!\r\n0\r\n\r\n'],
    ['a bare line feed at the end', '0\r\n\n'],
    ['a trailer without end', `0\r\n${'x'.repeat(9_000)}`],
    ['trailers without end', `0\r\n${'name: value\r\n'.repeat(9_000)}`],
  ])('%s is a fault', async (_, text) => {
    expect(await chunked(text)).toMatchObject({ fault: 'InvalidBody' });
  });

  test('what came before the fault is still read', async () => {
    const said = await heard([`${head('transfer-encoding: chunked')}5\r\nhello\r\n`, 'nonsense\r\n']);
    expect(said).toMatchObject({ body: 'hello', fault: 'InvalidBody' });
  });
});

test('a limit on the whole is kept to the byte', async () => {
  const whole = async (limit: number) => {
    const turn = new ResponseReader(flow, 'GET');
    turn.receive(Buffer.from(withLength));
    const { body } = await turn.answer;
    if (!body?.whole) throw new Error('no body');
    return Buffer.from(await body.whole(limit)).toString();
  };
  expect(await whole(11)).toBe('hello world');
  await expect(whole(10)).rejects.toMatchObject({ code: 'BodyTooLarge' });
  const turn = new ResponseReader(flow, 'GET');
  for (const piece of cutAt(withLength, withLength.length - 3)) turn.receive(Buffer.from(piece));
  const { body } = await turn.answer;
  await expect(body && readThrough(body, 10)).rejects.toMatchObject({ code: 'BodyTooLarge' });
});
