/** Frames that are refused, the codes with which they are, and what is told of them afterwards. */
import { describe, expect, test } from 'bun:test';
import { first, limit, read, reading } from '../../../test/frame-reading.ts';
import { clientFrame, closePayload, kinds } from '../../../test/servers/client-frames.ts';

const { continuation, text, binary, close, ping, pong } = kinds;

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
