import { describe, expect, test } from 'bun:test';
import { GatewayError } from '../errors.ts';
import { FormCutter } from './form-cutter.ts';

const form = Buffer.from(
  [
    'ignored',
    '--mark',
    'Content-Disposition: form-data; name="purpose"',
    '',
    'batch',
    '--mark',
    'Content-Disposition: form-data; name="empty"',
    '',
    '',
    '--mark',
    'Content-Disposition: form-data; name="file"; filename="a.jsonl"',
    '',
    'one\r\n--mar\r\ntwo\n',
    '--mark--',
    'ignored as well',
  ].join('\r\n'),
);

/** Parts with their values, cut wherever `size` bytes are full. */
function partsOf(bytes: Buffer, size: number) {
  const cutter = new FormCutter('mark');
  const parts: { head: string; value: string }[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    for (const event of cutter.push(bytes.subarray(at, at + size))) {
      if (event.is === 'part') parts.push({ head: event.head.trim(), value: '' });
      const last = parts.at(-1);
      if (event.is === 'bytes' && last) last.value += Buffer.from(event.bytes).toString();
    }
  }
  return { parts, complete: cutter.isComplete };
}

describe('a form', () => {
  test('comes apart the same way wherever its bytes are cut', () => {
    for (let size = 1; size <= form.length; size++) {
      expect(partsOf(form, size)).toEqual({
        complete: true,
        parts: [
          { head: 'Content-Disposition: form-data; name="purpose"', value: 'batch' },
          { head: 'Content-Disposition: form-data; name="empty"', value: '' },
          {
            head: 'Content-Disposition: form-data; name="file"; filename="a.jsonl"',
            value: 'one\r\n--mar\r\ntwo\n',
          },
        ],
      });
    }
  });

  test('that breaks off is not complete', () => {
    expect(partsOf(form.subarray(0, form.indexOf('--mark--')), 7).complete).toBe(false);
  });

  test('with endless headers is refused', () => {
    const endless = Buffer.concat([Buffer.from('--mark\r\n'), Buffer.alloc(20_000, 'x')]);
    expect(() => partsOf(endless, 1_000)).toThrow(GatewayError);
  });
});
