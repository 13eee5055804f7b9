/** What is told of frames, however they are cut, held back or gathered. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { first, limit, read, reading, type Told } from '../../../test/frame-reading.ts';
import { clientFrame, closePayload, kinds } from '../../../test/servers/client-frames.ts';
import { FrameReader } from './frames.ts';

const { continuation, text, binary, close, ping, pong } = kinds;

const talk: readonly [Buffer, ...Told[]][] = [
  [clientFrame(text, 'hello'), ['message', 'hello']],
  [clientFrame(text, ''), ['message', '']],
  [clientFrame(binary, ''), ['message', Buffer.alloc(0)]],
  [clientFrame(text, '\ufeffžluťoučký 🐎', first)],
  [clientFrame(ping, 'there?'), ['ping', Buffer.from('there?')]],
  [clientFrame(continuation, ' 日本', first)],
  [clientFrame(pong, 'unasked')],
  [clientFrame(continuation, ''), ['message', '\ufeffžluťoučký 🐎 日本']],
  [clientFrame(binary, Buffer.alloc(126, 'a')), ['message', Buffer.alloc(126, 'a')]],
  [clientFrame(binary, Buffer.alloc(125, 'b'), { mask: [0, 0, 0, 0] }), ['message', Buffer.alloc(125, 'b')]],
  [clientFrame(ping, Buffer.alloc(125, 'c')), ['ping', Buffer.alloc(125, 'c')]],
  [clientFrame(ping), ['ping', Buffer.alloc(0)]],
  [clientFrame(close, closePayload(4_001, 'bye 🐎')), ['left', 4_001, 'bye 🐎']],
];
const whole = Buffer.concat(talk.map(([frame]) => frame));
const expected = talk.flatMap(([, ...told]) => told);

describe('however it is cut', () => {
  test('at every byte, the same is told', () => {
    for (let cut = 0; cut <= whole.length; cut++) {
      const { told, push } = reading();
      push(whole.subarray(0, cut));
      push(whole.subarray(cut));
      expect(told).toEqual(expected);
    }
  });

  test('byte by byte, the same is told', () => {
    const { told, push } = reading();
    for (const byte of whole) push(Uint8Array.of(byte));
    expect(told).toEqual(expected);
  });

  test.each([65_535, 65_536, 300_000])('a message of %d bytes arrives whole', (size) => {
    const content = Buffer.from(Array.from({ length: size }, (_, index) => (index * 7) % 251));
    const frame = clientFrame(binary, content);
    for (const cut of [0, 1, 2, 5, 10, 13, 14, 15, 16, 17, 30_000, frame.length - 1, frame.length]) {
      const { told, push } = reading();
      push(frame.subarray(0, cut));
      push(frame.subarray(cut));
      push(clientFrame(text, 'next'));
      expect(told).toEqual([
        ['message', content],
        ['message', 'next'],
      ]);
    }
  });

  test('random messages in random fragments and pieces arrive whole, with pings between them', () => {
    const message = fc.record({
      content: fc.oneof(
        fc.string({ unit: 'grapheme', maxLength: 300 }),
        fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
      ),
      cuts: fc.array(fc.nat(300), { maxLength: 4 }),
      mask: fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)),
      ping: fc.option(fc.string({ maxLength: 20 })),
    });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), fc.array(fc.nat(200), { maxLength: 40 }), (messages, sizes) => {
        const bytes: Buffer[] = [];
        const hoped: Told[] = [];
        for (const { content, cuts, mask, ping: asked } of messages) {
          const payload = Buffer.from(content);
          const ends = [...cuts.filter((cut) => cut < payload.length).sort((a, b) => a - b), payload.length];
          let from = 0;
          for (const [index, end] of ends.entries()) {
            const kind = index > 0 ? continuation : typeof content === 'string' ? text : binary;
            const final = index === ends.length - 1;
            bytes.push(clientFrame(kind, payload.subarray(from, end), { final, mask }));
            if (asked !== null && !final) bytes.push(clientFrame(ping, asked, { mask }));
            if (asked !== null && !final) hoped.push(['ping', Buffer.from(asked)]);
            from = end;
          }
          hoped.push(['message', content]);
        }
        const all = Buffer.concat(bytes);
        const { told, push } = reading();
        let at = 0;
        for (const size of [...sizes, all.length]) {
          push(all.subarray(at, at + size));
          at += size;
        }
        expect(told).toEqual(hoped);
      }),
    );
  });

  test('whatever bytes come, the same is told of them in one piece and byte by byte', () => {
    const anyFrame = fc
      .tuple(fc.constantFrom(...Object.values(kinds), 3, 11), fc.uint8Array({ maxLength: 140 }), fc.boolean())
      .map(([kind, payload, final]) => clientFrame(kind, payload, { final }));
    const anything = fc.oneof({ weight: 4, arbitrary: anyFrame }, fc.uint8Array({ maxLength: 30 }));
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 8 }), (pieces) => {
        const all = Buffer.concat(pieces);
        const { told, push } = reading();
        for (const byte of all) push(Uint8Array.of(byte));
        expect(told).toEqual(read(all));
        expect(told.filter(([what]) => what === 'refused').length).toBeLessThan(2);
        expect(told.findIndex(([what]) => what === 'left')).toBeOneOf([-1, told.length - 1]);
      }),
      { numRuns: 1_000 },
    );
  });

  test('hundreds of thousands of crumbs are not copied over and over', () => {
    const size = 8 * 1024 * 1024;
    const crumbs = 300_000;
    const frame = clientFrame(binary, Buffer.alloc(size + crumbs, 'x'), { mask: [0, 0, 0, 0] });
    const { told, push } = reading(2 * size);
    push(frame.subarray(0, -crumbs));
    for (let at = frame.length - crumbs; at < frame.length; at++) push(frame.subarray(at, at + 1));
    push(clientFrame(binary, Buffer.alloc(size, 'x'), { ...first, mask: [0, 0, 0, 0] }));
    const crumb = clientFrame(continuation, 'x', first);
    for (let sent = 1; sent < crumbs; sent++) push(crumb);
    push(clientFrame(continuation, 'x'));
    expect(told.length).toBe(2);
    const hoped = Buffer.alloc(size + crumbs, 'x');
    for (const [, content] of told) expect(content instanceof Buffer && content.equals(hoped)).toBe(true);
  });

  test('a binary message has memory of its own', () => {
    const { told, reader } = reading();
    const bytes = Buffer.concat([clientFrame(binary, 'abc'), clientFrame(text, 'def')]);
    reader.push(bytes);
    bytes.fill(0);
    expect(told).toEqual([
      ['message', Buffer.from('abc')],
      ['message', 'def'],
    ]);
  });
});

test('of a reader that ignores, only the close frame is told, also of a message half read', () => {
  const { told, push, reader } = reading();
  const message = clientFrame(text, 'abcdef');
  push(message.subarray(0, 8));
  reader.ignore();
  push(message.subarray(8));
  push(clientFrame(text, 'x', { reserved: 4 }));
  expect(told).toEqual([]);
  push(clientFrame(close));
  expect(told).toEqual([['left', 1_005, '']]);
});

test('a reader that was stopped tells nothing', () => {
  const { told, push, reader } = reading();
  reader.stop();
  push(whole);
  expect(told).toEqual([]);
});

describe('a reader that is held', () => {
  test('tells nothing more of what came with the frame at which it was held, until it goes on', () => {
    const { told, reader } = reading();
    const one = clientFrame(text, 'one');
    reader.push(Buffer.from(one));
    reader.hold();
    reader.push(Buffer.concat([clientFrame(text, 'two'), clientFrame(text, 'three')]));
    expect(told).toEqual([['message', 'one']]);
    reader.goOn();
    expect(told.slice(1)).toEqual([
      ['message', 'two'],
      ['message', 'three'],
    ]);
  });

  test('stops in the middle of what came at once', () => {
    const told: string[] = [];
    const reader: FrameReader = new FrameReader(
      {
        message(frame) {
          told.push(String(frame));
          if (told.length % 2 === 0) reader.hold();
        },
        ping: () => undefined,
        overhead: () => undefined,
        gathers: () => true,
        left: () => undefined,
        refused: () => undefined,
      },
      limit,
    );
    reader.push(Buffer.concat(Array.from({ length: 5 }, (_, index) => clientFrame(text, String(index)))));
    expect(told).toEqual(['0', '1']);
    reader.goOn();
    expect(told).toEqual(['0', '1', '2', '3']);
    reader.goOn();
    expect(told).toEqual(['0', '1', '2', '3', '4']);
  });
});

test('frames that are no messages are counted', () => {
  const { push, overhead } = reading();
  push(
    Buffer.concat([clientFrame(ping), clientFrame(pong), clientFrame(text, '', first), clientFrame(continuation, '')]),
  );
  expect(overhead()).toBe(3);
});

describe('memory for messages that come in pieces', () => {
  const half = Buffer.alloc(400_000, 'x');

  test('is asked for as they grow, and given back when they end', () => {
    let held = 0;
    const { push, told, reader } = reading(limit, (bytes) => {
      held += bytes;
      return true;
    });
    push(clientFrame(binary, half, first));
    expect(held).toBeGreaterThanOrEqual(half.length);
    push(clientFrame(continuation, half));
    expect([held, told.length]).toEqual([0, 1]);
    push(clientFrame(binary, half, first));
    reader.stop();
    expect(held).toBe(0);
  });

  test('that is not there ends the talk with 1013', () => {
    const { push, told } = reading(limit, () => false);
    push(clientFrame(binary, half, first));
    expect(told).toEqual([['refused', 1013]]);
  });

  test('is not asked for by short ones', () => {
    const { push, told } = reading(limit, () => false);
    push(clientFrame(binary, Buffer.alloc(1_000), first));
    push(clientFrame(continuation, Buffer.alloc(1_000)));
    expect(told).toHaveLength(1);
  });
});
