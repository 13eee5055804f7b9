import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { EventSplitter, readEvents, writeEvent } from './sse.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (parts: (Uint8Array | null)[]) => Buffer.concat(parts.filter((part) => part !== null)).toString();

const streams = {
  LF: 'data: {"a":1}\n\ndata: {"b":2}\n\ndata: [DONE]\n\n',
  CRLF: 'data: {"a":1}\r\n\r\nevent: x\r\ndata: {"b":2}\r\n\r\n',
  CR: 'data: {"a":1}\r\rdata: {"b":2}\r\r',
  'comments and ids': ': keep-alive\n\nid: 7\nretry: 10\nevent: ping\ndata: {}\n\n: end\n\n',
  'several data lines': 'data: one\ndata: two\n\ndata:three\n\n',
  'letters of several bytes': 'data: {"t":"žluťoučký 🐎 日本"}\n\ndata: {"t":"🙂"}\n\n',
};

describe('splitting', () => {
  test.each(Object.entries(streams))(
    '%s: cut at every byte, the same bytes come out and the same events are read',
    (_, stream) => {
      const whole = bytes(stream);
      const expected = readEvents(whole);
      for (let cut = 0; cut <= whole.length; cut++) {
        const splitter = new EventSplitter();
        const parts = [splitter.push(whole.subarray(0, cut)), splitter.push(whole.subarray(cut)), splitter.rest()];
        expect(text(parts)).toBe(stream);
        expect(parts.flatMap((part) => (part ? readEvents(part) : []))).toEqual(expected);
      }
    },
  );

  test.each(Object.entries(streams))('%s: byte by byte, the same events are read', (_, stream) => {
    const whole = bytes(stream);
    const splitter = new EventSplitter();
    const parts = [...whole].map((byte) => splitter.push(Uint8Array.of(byte)));
    expect(text([...parts, splitter.rest()])).toBe(stream);
    expect(parts.flatMap((part) => (part ? readEvents(part) : []))).toEqual(readEvents(whole));
  });

  test('random events in random pieces arrive whole, in order and unchanged', () => {
    const event = fc.record({
      event: fc.option(fc.constantFrom('delta', 'ping')),
      data: fc.string({ maxLength: 200 }).map((s) => JSON.stringify(s)),
    });
    fc.assert(
      fc.property(
        fc.array(event, { minLength: 1, maxLength: 20 }),
        fc.array(fc.nat(400), { maxLength: 30 }),
        (events, cuts) => {
          const whole = Buffer.concat(events.map(writeEvent));
          const splitter = new EventSplitter();
          const parts: Uint8Array[] = [];
          let from = 0;
          for (const size of [...cuts, whole.length]) {
            const part = splitter.push(whole.subarray(from, from + size));
            if (part) parts.push(part);
            from += size;
          }
          expect(Buffer.concat(parts).equals(whole)).toBe(true);
          expect(parts.flatMap(readEvents)).toEqual(events);
        },
      ),
    );
  });

  test('only whole events leave: an open one is held back', () => {
    const splitter = new EventSplitter();
    expect(splitter.push(bytes('data: {"a"'))).toBeNull();
    expect(text([splitter.push(bytes(':1}\n\ndata: {"b'))])).toBe('data: {"a":1}\n\n');
    expect(text([splitter.rest()])).toBe('data: {"b');
  });

  test('an event of ten megabytes in small pieces passes', () => {
    const splitter = new EventSplitter();
    const piece = new Uint8Array(16_384).fill(120);
    let out: Uint8Array | null = splitter.push(bytes('data: '));
    for (let i = 0; i < 640; i++) out = splitter.push(piece);
    expect(out).toBeNull();
    expect(splitter.push(bytes('\n\n'))?.length).toBe(640 * 16_384 + 8);
  });
});

test('an event of very many lines is refused, whatever they say', () => {
  for (const line of [':\n', 'data:\n', 'a\r', 'a\r\n']) {
    const splitter = new EventSplitter();
    const chunk = Buffer.from(line.repeat(10_000));
    expect(() => {
      for (let count = 0; count < 12; count++) splitter.push(chunk);
    }).toThrow('lines');
  }
});
