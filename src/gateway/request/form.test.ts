import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { editFields, readFormFields } from './form.ts';

const mark = 'gw7boundary';
const type = `multipart/form-data; boundary=${mark}`;

interface Part {
  name: string;
  file: boolean;
  value: Uint8Array;
}

const textPart = (name: string, value: string): Part => ({ name, file: false, value: Buffer.from(value) });
const filePart = (name: string, value: Uint8Array): Part => ({ name, file: true, value });

const formOf = (parts: readonly Part[], end = `--${mark}--\r\n`): Buffer =>
  Buffer.concat([
    ...parts.flatMap(({ name, file, value }) => [
      Buffer.from(
        `--${mark}\r\nContent-Disposition: form-data; name="${name}"${file ? '; filename="f.bin"\r\nContent-Type: audio/wav' : ''}\r\n\r\n`,
      ),
      value,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(end),
  ]);

const fieldsIn = (body: Uint8Array) => readFormFields(body, type).map(({ name, value }) => [name, value]);
const edited = (body: Uint8Array, changes: [string, string | null][]) =>
  editFields(body, type, readFormFields(body, type), new Map(changes));

describe('reading', () => {
  test('text fields in order, repeated ones included, files left out', () => {
    const body = formOf([
      textPart('model', 'm'),
      filePart('file', Buffer.from('x')),
      textPart('g[]', '1'),
      textPart('g[]', '2'),
    ]);
    expect(fieldsIn(body)).toEqual([
      ['model', 'm'],
      ['g[]', '1'],
      ['g[]', '2'],
    ]);
  });

  test('a value may be empty, may span lines, and may hold letters of several bytes', () => {
    const body = formOf([textPart('a', ''), textPart('b', 'one\r\ntwo\r\n\r\nthree'), textPart('c', 'žluť 🐎')]);
    expect(fieldsIn(body)).toEqual([
      ['a', ''],
      ['b', 'one\r\ntwo\r\n\r\nthree'],
      ['c', 'žluť 🐎'],
    ]);
  });

  test('a boundary in quotes and a name without them are understood', () => {
    const body = Buffer.from('--b 1\r\ncontent-disposition: form-data; NAME=model\r\n\r\nm\r\n--b 1--');
    expect(readFormFields(body, 'multipart/form-data; boundary="b 1"')[0]).toMatchObject({ name: 'model', value: 'm' });
  });

  test('what follows the end of the form is not read', () => {
    const body = formOf([textPart('a', '1')], `--${mark}--\r\n\r\n\r\nrest\r\n--${mark}`);
    expect(fieldsIn(body)).toEqual([['a', '1']]);
  });

  test.each(['', `--${mark}`, `--${mark}\r\nContent-Disposition: form-data; name="a"\r\n\r\nopen`, 'no form at all'])(
    'a form cut short has no field: %p',
    (text) => {
      expect(fieldsIn(Buffer.from(text))).toEqual([]);
    },
  );

  test('without a boundary there is no field', () => {
    expect(readFormFields(formOf([textPart('a', '1')]), 'multipart/form-data')).toEqual([]);
  });
});

describe('editing', () => {
  test('a field is replaced, one is removed and one is added', () => {
    const body = formOf([textPart('model', '@a/m'), textPart('temperature', '1'), filePart('file', Buffer.from('x'))]);
    const after = edited(body, [
      ['model', 'm'],
      ['temperature', null],
      ['language', 'cs'],
    ]);
    expect(fieldsIn(after)).toEqual([
      ['language', 'cs'],
      ['model', 'm'],
    ]);
    expect(Buffer.from(after).includes('filename="f.bin"')).toBe(true);
  });

  test('a repeated field takes its new value once', () => {
    const body = formOf([textPart('g[]', '1'), textPart('x', 'y'), textPart('g[]', '2')]);
    expect(fieldsIn(edited(body, [['g[]', '3']]))).toEqual([
      ['g[]', '3'],
      ['x', 'y'],
    ]);
  });

  test('a name that would break out of its header is escaped', () => {
    const after = edited(formOf([textPart('a', '1')]), [['x"\r\ny', 'v']]);
    expect(Buffer.from(after).toString()).toContain('name="x%22%0D%0Ay"');
  });

  test('whatever the parts, everything but the edited fields stays byte for byte', () => {
    const name = fc.constantFrom('model', 'prompt', 'g[]', 'other');
    const text = fc
      .string({ unit: 'binary', maxLength: 30 })
      .filter((value) => !value.includes(mark) && value.isWellFormed());
    const part: fc.Arbitrary<Part> = fc.oneof(
      fc.record({ name, file: fc.constant(false), value: text.map((value) => Buffer.from(value)) }),
      fc.record({
        name,
        file: fc.constant(true),
        value: fc.uint8Array({ maxLength: 60 }).filter((value) => !Buffer.from(value).includes(mark)),
      }),
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), text, (parts, value) => {
        let replaced = false;
        const expected = parts.flatMap((one) => {
          if (one.file || one.name !== 'model') return [one];
          if (replaced) return [];
          replaced = true;
          return [textPart('model', value)];
        });
        const wanted = formOf(replaced ? expected : [textPart('model', value), ...expected]);
        expect(Buffer.compare(edited(formOf(parts), [['model', value]]), wanted)).toBe(0);
      }),
    );
  });
});
