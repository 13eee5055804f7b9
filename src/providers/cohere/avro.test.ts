import { describe, expect, test } from 'bun:test';
import { vectorOf } from '../../../test/providers/cohere.ts';
import { avroFile } from '../../../test/providers/cohere-jobs.ts';
import { ProviderFault } from '../faults.ts';
import { avroRows } from './avro.ts';

const rows = [
  { text: 'Grüße 👋', custom_id: 'a' },
  { text: '', custom_id: 'b'.repeat(200) },
];

describe('an Avro file', () => {
  test.each(['null', 'deflate'])('is read by its own schema, packed by %s', (codec) => {
    expect(avroRows(avroFile(rows, codec))).toEqual(
      rows.map((row) => ({ ...row, embeddings: { float: vectorOf(row.text) } })),
    );
  });

  test('that is cut anywhere is a fault of the provider, or holds the rows before', () => {
    const whole = avroFile(rows, 'null');
    const first = avroFile(rows.slice(0, 1), 'null').length;
    const head = avroFile([], 'null').length;
    for (let length = 0; length < whole.length; length++) {
      const reading = () => avroRows(whole.subarray(0, length));
      if (length === head || length === first) expect(reading()).toHaveLength(length === head ? 0 : 1);
      else expect(reading).toThrow(ProviderFault);
    }
  });

  test('whose bytes are changed anywhere is read or refused, and never hangs', () => {
    const whole = avroFile(rows, 'null');
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      changed[at] = 0xff;
      try {
        avroRows(changed);
      } catch (fault) {
        expect(fault).toBeInstanceOf(ProviderFault);
      }
    }
  });

  test('of another making is none', () => {
    expect(() => avroRows(Buffer.from('PAR1'))).toThrow('it is no Avro file');
    expect(() => avroRows(avroFile(rows, 'snappy'))).toThrow('it is packed by snappy');
  });
});
