import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { clientFrame, closePayload, kinds } from '../../../test/servers/client-frames.ts';
import { FrameReader } from './frames.ts';

const limit = 1_000_000;

/** What was told, in order. */
type Told = [what: 'message' | 'ping' | 'left' | 'refused', ...of: (string | number | Buffer)[]];

function reading(
  most = limit,
  gathers: (bytes: number) => boolean = () => true,
): { told: Told[]; push(bytes: Uint8Array): void; reader: FrameReader; overhead(): number } {
  const told: Told[] = [];
  let overhead = 0;
  const reader = new FrameReader(
    {
      message: (frame) => told.push(['message', frame]),
      ping: (payload) => told.push(['ping', Buffer.from(payload)]),
      overhead: () => overhead++,
      gathers,
      left: (code, reason) => told.push(['left', code, reason]),
      refused: (code) => told.push(['refused', code]),
    },
    most,
  );
  // Its own memory each time, as the mask is taken off in it.
  return { told, reader, push: (bytes) => reader.push(Buffer.from(bytes)), overhead: () => overhead };
}

function read(...frames: Uint8Array[]): Told[] {
  const { told, push } = reading();
  push(Buffer.concat(frames));
  return told;
}

const { continuation, text, binary, close, ping, pong } = kinds;
const first = { final: false };

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

describe('refused with 1002 is', () => {
  const message = clientFrame(text, 'a', first);

  test.each<[string, ...Buffer[]]>([
    ['a frame without a mask', clientFrame(text, 'a', { mask: null })],
    ['an empty frame without a mask', clientFrame(text, '', { mask: null })],
    ['a close frame without a mask', clientFrame(close, '', { mask: null })],
    ['the first reserved bit', clientFrame(text, 'a', { reserved: 4 })],
    ['the second reserved bit', clientFrame(text, 'a', { reserved: 2 })],
    ['the third reserved bit', clientFrame(ping, 'a', { reserved: 1 })],
    ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((kind): [string, Buffer] => [`kind ${kind}`, clientFrame(kind, 'a')]),
    ['a fragment of no message', clientFrame(continuation, 'a')],
    ['a fragment behind a whole message', clientFrame(text, ''), clientFrame(continuation, 'a')],
    ['a text within a message', message, clientFrame(text, 'a')],
    ['a binary frame within a message', message, clientFrame(binary, 'a', first)],
    ['a ping in fragments', clientFrame(ping, 'a', first)],
    ['a close frame in fragments', clientFrame(close, '', first)],
    ['a ping of 126 bytes', clientFrame(ping, Buffer.alloc(126))],
    ['a close frame of 126 bytes', clientFrame(close, closePayload(1_000, Buffer.alloc(124, 'x')))],
    ['a pong with a size in eight bytes', clientFrame(pong, Buffer.alloc(66_000))],
    ['125 told in two bytes', clientFrame(text, Buffer.alloc(125), { sizeIn: 2 })],
    ['nothing told in two bytes', clientFrame(text, '', { sizeIn: 2 })],
    ['a ping told in two bytes', clientFrame(ping, 'a', { sizeIn: 2 })],
    ['65,535 told in eight bytes', clientFrame(binary, Buffer.alloc(65_535), { sizeIn: 8 })],
    ['a size with its highest bit', clientFrame(binary, '', { size: 2n ** 63n })],
  ])('%s', (_, ...frames) => {
    const refused = read(...frames).filter(([what]) => what !== 'message');
    expect(refused[0]).toEqual(['refused', 1_002]);
    expect(refused.filter(([what]) => what === 'refused').length).toBe(1);
    const alone = reading();
    for (const byte of Buffer.concat(frames)) alone.push(Uint8Array.of(byte));
    expect(alone.told.filter(([what]) => what !== 'message')).toEqual(refused);
  });

  test.each([0, 1, 999, 1_004, 1_005, 1_006, 1_015, 1_016, 1_100, 2_000, 2_999, 5_000, 65_535])(
    'a close frame with code %d',
    (code) => {
      expect(read(clientFrame(close, closePayload(code, 'x')))).toEqual([
        ['refused', 1_002],
        ['left', 1_006, ''],
      ]);
    },
  );

  test('a close frame of one byte', () => {
    for (let byte = 0; byte < 256; byte++) {
      expect(read(clientFrame(close, Uint8Array.of(byte)))[0]).toEqual(['refused', 1_002]);
    }
  });

  test('a close frame that is too long, and it is not even kept', () => {
    const { told, push } = reading();
    push(clientFrame(close, closePayload(1_000, Buffer.alloc(1_000, 'x'))));
    push(clientFrame(close, '', { size: 2n ** 40n }));
    expect(told).toEqual([['refused', 1_002]]);
  });
});

test.each([1_000, 1_001, 1_002, 1_003, 1_007, 1_008, 1_011, 1_014, 3_000, 3_999, 4_000, 4_999])(
  'a close frame with code %d is one, and nothing is told after it',
  (code) => {
    const frames = [
      clientFrame(close, closePayload(code)),
      clientFrame(text, 'late'),
      clientFrame(ping),
      clientFrame(3),
    ];
    expect(read(...frames)).toEqual([['left', code, '']]);
  },
);

test('a close frame without a code is told as 1005', () => {
  expect(read(clientFrame(close))).toEqual([['left', 1_005, '']]);
});

describe('text', () => {
  test.each([
    ['a byte that is none', [0xff]],
    ['a lone continuation', [0x80]],
    ['a letter cut short', [0xe2, 0x82]],
    ['an overlong zero', [0xc0, 0x80]],
    ['half of a surrogate pair', [0xed, 0xa0, 0x80]],
    ['a letter beyond the last', [0xf4, 0x90, 0x80, 0x80]],
  ])('that is no UTF-8 is refused with 1007: %s', (_, wrong) => {
    const bytes = Buffer.from([0x61, ...wrong]);
    expect(read(clientFrame(text, bytes))).toEqual([['refused', 1_007]]);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const fragments = [
        clientFrame(text, bytes.subarray(0, cut), first),
        clientFrame(continuation, bytes.subarray(cut)),
      ];
      expect(read(...fragments)).toEqual([['refused', 1_007]]);
    }
    expect(read(clientFrame(close, closePayload(1_000, bytes)))[0]).toEqual(['refused', 1_007]);
    expect(read(clientFrame(binary, bytes))).toEqual([['message', bytes]]);
  });

  test('may be cut within a letter', () => {
    const bytes = Buffer.from('🐎');
    const fragments = [...bytes].map((byte, index) =>
      clientFrame(index === 0 ? text : continuation, Uint8Array.of(byte), { final: index === bytes.length - 1 }),
    );
    expect(read(...fragments)).toEqual([['message', '🐎']]);
  });
});

describe('a message over the limit is refused with 1009', () => {
  const head = (kind: number, size: number, final = true) =>
    clientFrame(kind, '', { size: BigInt(size), sizeIn: size < 65_536 ? 2 : 8, final });

  test('as soon as its size is told', () => {
    expect(read(head(binary, limit + 1))).toEqual([['refused', 1_009]]);
    expect(read(head(text, 2 ** 52))).toEqual([['refused', 1_009]]);
    expect(read(clientFrame(binary, '', { size: 2n ** 63n - 1n }))).toEqual([['refused', 1_009]]);
  });

  test('over all its fragments', () => {
    const begun = clientFrame(binary, Buffer.alloc(limit - 500), first);
    expect(read(begun, clientFrame(continuation, Buffer.alloc(500), first), clientFrame(continuation, 'x'))).toEqual([
      ['refused', 1_009],
    ]);
    expect(read(begun, head(continuation, 501, false))).toEqual([['refused', 1_009]]);
  });

  test('and one just below it arrives, as does the next', () => {
    const large = Buffer.alloc(limit, 'x');
    const fragments = [
      clientFrame(binary, large.subarray(0, 400_000), first),
      clientFrame(ping, Buffer.alloc(125)),
      clientFrame(continuation, large.subarray(400_000)),
    ];
    const messages = read(clientFrame(binary, large), ...fragments, ...fragments).filter(([what]) => what !== 'ping');
    expect(messages.length).toBe(3);
    for (const [, content] of messages) expect(content instanceof Buffer && content.equals(large)).toBe(true);
  });
});

describe('after a fault', () => {
  test.each([
    ['a frame with reserved bits', clientFrame(text, 'x'.repeat(300), { reserved: 4 })],
    ['a frame without a mask', clientFrame(text, 'x'.repeat(300), { mask: null })],
    ['a frame that is too large', clientFrame(binary, Buffer.alloc(limit + 1))],
    ['a text that is none', clientFrame(text, Uint8Array.of(0xff))],
  ])('nothing is told but the close frame: %s', (_, fault) => {
    const later = [clientFrame(text, 'a'), clientFrame(continuation, 'b'), clientFrame(ping, 'c'), clientFrame(3, 'd')];
    const told = read(fault, ...later, clientFrame(close, closePayload(1_001, 'e')));
    expect(told.map(([what]) => what)).toEqual(['refused', 'left']);
    expect(told[1]).toEqual(['left', 1_001, 'e']);
  });

  test('a close frame that is none is still the last word', () => {
    const told = read(clientFrame(3), clientFrame(close, 'x'), clientFrame(close));
    expect(told).toEqual([
      ['refused', 1_002],
      ['left', 1_006, ''],
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
