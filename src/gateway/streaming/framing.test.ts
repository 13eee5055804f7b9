/** Streams that are not server-sent events: frames of AWS and lines, however the bytes are cut. */
import { describe, expect, test } from 'bun:test';
import { crc32 } from 'node:zlib';
import { EventStreamCodec, Int64 } from '@smithy/eventstream-codec';
import { fromUtf8, toUtf8 } from '@smithy/util-utf8';
import fc from 'fast-check';
import { bytesFrame, errorFrame, eventFrame, exceptionFrame } from '../../../test/providers/event-stream.ts';
import { inPieces } from '../../../test/providers/scripted.ts';
import { ProviderFault } from '../../providers/faults.ts';
import type { Framing, ServerEvent } from '../../providers/provider.ts';
import { cutterOf } from './framing.ts';

const cut = (framing: Framing, pieces: readonly Uint8Array[]): ServerEvent[] => {
  const cutter = cutterOf(framing);
  return [...pieces.flatMap((piece) => cutter.push(piece)), ...cutter.rest()];
};

const faultOf = (bytes: Uint8Array): unknown => {
  try {
    return cut('aws', [bytes]);
  } catch (fault) {
    return fault;
  }
};

/** A frame without a payload, with right checksums whatever is said in it. */
function framed(headers: Buffer, headersLength: number): Buffer {
  const frame = Buffer.alloc(16 + headers.length);
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(headersLength, 4);
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8);
  headers.copy(frame, 12);
  frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.length - 4);
  return frame;
}

const stream = Buffer.concat([
  eventFrame('messageStart', { role: 'assistant' }),
  eventFrame('contentBlockDelta', { delta: { text: 'Grüße 👋' }, p: 'abc' }),
  exceptionFrame('throttlingException', 'Too many'),
  errorFrame('InternalFailure', 'Lost'),
  eventFrame('empty', {}),
]);

const events: ServerEvent[] = [
  { event: 'messageStart', data: '{"role":"assistant"}' },
  { event: 'contentBlockDelta', data: '{"delta":{"text":"Grüße 👋"},"p":"abc"}' },
  { event: 'exception:throttlingException', data: '{"message":"Too many"}' },
  { event: 'exception:InternalFailure', data: '{"message":"Lost"}' },
  { event: 'empty', data: '{}' },
];

describe('frames of AWS', () => {
  test('are events with their type and payload, exceptions and errors by their names', () => {
    expect(cut('aws', [stream])).toEqual(events);
  });

  test('give the same events wherever the bytes are cut in two', () => {
    for (let at = 0; at <= stream.length; at++) {
      expect(cut('aws', [stream.subarray(0, at), stream.subarray(at)])).toEqual(events);
    }
  });

  test('give the same events in pieces of any sizes', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (sizes) => {
        expect(cut('aws', inPieces(stream, sizes))).toEqual(events);
      }),
    );
  });

  test('are handed on as soon as they are whole', () => {
    const cutter = cutterOf('aws');
    const [first] = [eventFrame('messageStart', { role: 'assistant' })];
    expect(cutter.push(stream.subarray(0, first.length))).toEqual(events.slice(0, 1));
  });

  test('that never come to their end are no events', () => {
    expect(cut('aws', [stream.subarray(0, -1)])).toEqual(events.slice(0, -1));
  });

  test('with any broken byte are refused', () => {
    const frame = eventFrame('contentBlockDelta', { delta: { text: 'Hello' } });
    for (let at = 0; at < frame.length; at++) {
      const broken = Buffer.from(frame);
      broken[at] = (broken[at] ?? 0) ^ 1;
      expect(faultOf(broken)).toBeInstanceOf(ProviderFault);
    }
  });

  test('of a length that cannot be are refused at once, also with a right checksum', () => {
    for (const length of [0, 15, 16 * 1024 * 1024 + 1, 0xffffffff]) {
      const prelude = Buffer.alloc(12);
      prelude.writeUInt32BE(length, 0);
      prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
      expect(faultOf(prelude)).toBeInstanceOf(ProviderFault);
    }
  });

  test('may have headers of every type', () => {
    const codec = new EventStreamCodec(toUtf8, fromUtf8);
    const frame = codec.encode({
      headers: {
        yes: { type: 'boolean', value: true },
        no: { type: 'boolean', value: false },
        byte: { type: 'byte', value: 1 },
        short: { type: 'short', value: 2 },
        integer: { type: 'integer', value: 3 },
        long: { type: 'long', value: Int64.fromNumber(4) },
        binary: { type: 'binary', value: new Uint8Array([5]) },
        time: { type: 'timestamp', value: new Date(6) },
        uuid: { type: 'uuid', value: '00000000-0000-4000-8000-000000000007' },
        ':event-type': { type: 'string', value: 'chunk' },
        ':message-type': { type: 'string', value: 'event' },
      },
      body: Buffer.from('{"a":1}'),
    });
    expect(cut('aws', [frame])).toEqual([{ event: 'chunk', data: '{"a":1}' }]);
  });

  test('whose headers make no sense are refused, also with right checksums', () => {
    const headers = [
      [9, 0x61, 7, 0, 1, 0x62],
      [1, 0x61, 10],
      [1, 0x61, 7, 0, 9, 0x62],
      [1, 0x61, 9, 0],
      [1, 0x61],
    ];
    for (const bytes of headers)
      expect(faultOf(framed(Buffer.from(bytes), bytes.length))).toBeInstanceOf(ProviderFault);
    expect(faultOf(framed(Buffer.alloc(4), 5))).toBeInstanceOf(ProviderFault);
    expect(cut('aws', [framed(Buffer.alloc(0), 0)])).toEqual([{ event: null, data: '' }]);
  });

  test('of bytes that are no text by themselves are given in base64', () => {
    const half = Buffer.from('é').subarray(0, 1);
    expect(cut('aws', [bytesFrame('PayloadPart', half)])).toEqual([
      { event: 'PayloadPart', data: half.toString('base64') },
    ]);
  });

  test('of some megabytes are read from many pieces', () => {
    const text = 'x'.repeat(3_000_000);
    const frame = eventFrame('chunk', { bytes: text });
    const [event] = cut('aws', inPieces(frame, [16_384]));
    expect(event?.data.length).toBe(text.length + '{"bytes":""}'.length);
  });
});

describe('lines', () => {
  test('of JSON are events, also the last without its end, wherever they are cut', () => {
    const bytes = Buffer.from('{"a":"é"}\r\n\n{"b":2}\n{"c":3}');
    const expected = ['{"a":"é"}', '{"b":2}', '{"c":3}'].map((data) => ({ event: null, data }));
    for (let at = 0; at <= bytes.length; at++) {
      expect(cut('lines', [bytes.subarray(0, at), bytes.subarray(at)])).toEqual(expected);
    }
  });

  test('of server-sent events are events each, whatever stands between them', () => {
    const bytes = Buffer.from(': hi\ndata: {"a":1}\ndata:{"b":2}\n\nevent: x\ndata: [DONE]');
    const expected = ['{"a":1}', '{"b":2}', '[DONE]'].map((data) => ({ event: null, data }));
    for (let at = 0; at <= bytes.length; at++) {
      expect(cut('sse-lines', [bytes.subarray(0, at), bytes.subarray(at)])).toEqual(expected);
    }
  });
});
