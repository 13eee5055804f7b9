import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { aMoment, bodyOf, httpWorld, said } from '../../../test/servers/http-world.ts';
import { until } from '../../../test/servers/wire-calls.ts';

const { serve } = httpWorld();

interface Sent {
  method: string;
  target: string;
  headers: [name: string, value: string][];
  body: Buffer;
  /** Sizes of the chunks that it comes in; null where its length is told. */
  chunks: number[] | null;
}

const tokens = fc.stringMatching(/^[A-Za-z][A-Za-z0-9!#$%&'*+.^_`|~-]{0,12}$/);
const sent: fc.Arbitrary<Sent> = fc.record({
  method: fc.oneof(fc.constantFrom('GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'), tokens),
  target: fc.stringMatching(/^\/[!-~]{0,30}$/),
  headers: fc.array(
    fc.tuple(
      tokens.map((name) => `x-${name}`),
      fc.stringMatching(/^([!-~\x80-\xff]([\t -~\x80-\xff]{0,20}[!-~\x80-\xff])?)?$/),
    ),
    { maxLength: 5 },
  ),
  body: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  chunks: fc.option(fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 10 })),
});

function written({ method, target, headers, body, chunks }: Sent): Buffer {
  const fields = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const framing = chunks
    ? 'transfer-encoding: chunked\r\n'
    : body.length > 0
      ? `content-length: ${body.length}\r\n`
      : '';
  const pieces: Buffer[] = [
    Buffer.from(`${method} ${target} HTTP/1.1\r\nhost: a\r\n${fields}${framing}\r\n`, 'latin1'),
  ];
  let at = 0;
  for (const size of chunks ? [...chunks, body.length] : []) {
    const chunk = body.subarray(at, at + size);
    if (chunk.length === 0) continue;
    pieces.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
    at += chunk.length;
  }
  pieces.push(chunks ? Buffer.from('0\r\n\r\n') : body);
  return Buffer.concat(pieces);
}

/** As a handler is to see it. */
function expected({ method, target, headers, body }: Sent): unknown {
  const fields: Record<string, string> = {};
  for (const [name, value] of headers) {
    const known = name.toLowerCase();
    fields[known] = known in fields ? `${fields[known]}, ${value}` : value;
  }
  return { method, target, fields, body: body.toString('latin1') };
}

test('requests that come at once reach the handler as they were sent, however they are cut', async () => {
  let seen: unknown[] = [];
  const server = serve(async (request) => {
    const { method, target, headers } = request;
    const fields = Object.fromEntries(Object.entries(headers.fields).filter(([name]) => name.startsWith('x-')));
    seen.push({ method, target, fields, body: await bodyOf(request) });
    return said('');
  });
  const streams = fc.array(sent, { minLength: 1, maxLength: 6 });
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(streams, cuts, async (requests, where) => {
      seen = [];
      const client = await server.client();
      const bytes = Buffer.concat(requests.map(written));
      const ends = [...where.map((part) => Math.floor(part * bytes.length)), bytes.length].sort((a, b) => a - b);
      let at = 0;
      for (const end of ends) {
        client.say(bytes.subarray(at, end));
        at = end;
        await aMoment();
      }
      await until(() => seen.length >= requests.length);
      for (let reply = 0; reply < requests.length; reply++) await client.reply();
      expect(client.rest).toBe('');
      expect(seen).toEqual(requests.map(expected));
      client.socket.destroy();
    }),
    { numRuns: 300 },
  );
});
