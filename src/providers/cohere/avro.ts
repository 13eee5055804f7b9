/** Rows of an Avro file, as Cohere keeps its datasets: the file brings its own schema. */
import { inflateRawSync } from 'node:zlib';
import { ProviderFault } from '../faults.ts';
import { isObject, objectOf, objectsOf, parsed, textOf, wordOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';

/** A block that unpacks to more than this is no block of vectors. */
const longestBlock = 256 * 1024 * 1024;

export function avroRows(bytes: Uint8Array): JsonObject[] {
  try {
    return rowsIn(new Cursor(bytes));
  } catch (fault) {
    // Whatever goes wrong while it is read, the file is not what it says.
    const why = fault instanceof Error ? fault.message : '';
    throw new ProviderFault(502, `the provider's Avro file cannot be read: ${why}`);
  }
}

const magic = 'Obj\u0001';
const syncLength = 16;

function rowsIn(file: Cursor): JsonObject[] {
  if (Buffer.from(file.take(magic.length)).toString('latin1') !== magic) throw new Error('it is no Avro file');
  const types = new Types();
  const head = objectOf(types.value({ type: 'map', values: 'string' }, file));
  const schema = parsed(textOf(head['avro.schema']) ?? '');
  const unpacked = unpackerOf(textOf(head['avro.codec']) ?? 'null');
  file.take(syncLength);
  const rows: JsonObject[] = [];
  while (file.left > 0) {
    const count = file.long();
    const block = new Cursor(unpacked(file.take(file.long())));
    for (const row of types.several(schema, count, block)) rows.push(objectOf(row));
    file.take(syncLength);
  }
  return rows;
}

function unpackerOf(codec: string): (bytes: Uint8Array) => Uint8Array {
  if (codec === 'null') return (bytes) => bytes;
  if (codec === 'deflate') return (bytes) => inflateRawSync(bytes, { maxOutputLength: longestBlock });
  throw new Error(`it is packed by ${codec}`);
}

class Cursor {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  take(length: number): Uint8Array {
    if (length < 0 || length > this.left) throw new Error('it ends too early');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  /** Seven bits a byte, the lowest first; the sign is the lowest bit of all. */
  long(): number {
    let value = 0;
    let weight = 1;
    for (;;) {
      const [byte = 0] = this.take(1);
      value += (byte & 0x7f) * weight;
      if (byte < 0x80) break;
      weight *= 0x80;
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  float(): number {
    this.take(4);
    return this.#view.getFloat32(this.#at - 4, true);
  }

  double(): number {
    this.take(8);
    return this.#view.getFloat64(this.#at - 8, true);
  }
}

/** Values by their type; a type that was named may be spoken of by its name. */
class Types {
  readonly #named = new Map<string, JsonObject>();

  value(type: unknown, from: Cursor): unknown {
    if (Array.isArray(type)) return this.value(type[from.long()], from);
    if (isObject(type)) return this.#complex(type, from);
    switch (type) {
      case 'null':
        return null;
      case 'boolean':
        return from.take(1)[0] === 1;
      case 'int':
      case 'long':
        return from.long();
      case 'float':
        return from.float();
      case 'double':
        return from.double();
      case 'string':
        return Buffer.from(from.take(from.long())).toString();
      case 'bytes':
        return Buffer.from(from.take(from.long())).toString('base64');
      default: {
        const named = this.#named.get(wordOf(type));
        if (!named) throw new Error(`its type ${wordOf(type)} is unknown`);
        return this.#complex(named, from);
      }
    }
  }

  several(type: unknown, count: number, from: Cursor): unknown[] {
    if (count < 0 || count > from.left) throw new Error('it counts more than it holds');
    return Array.from({ length: count }, () => this.value(type, from));
  }

  #complex(type: JsonObject, from: Cursor): unknown {
    const name = textOf(type.name);
    if (name !== null) {
      this.#named.set(name, type);
      this.#named.set(`${textOf(type.namespace) ?? ''}.${name}`, type);
    }
    switch (type.type) {
      case 'record': {
        const fields = objectsOf(type.fields).map((field) => [field.name, this.value(field.type, from)]);
        return Object.fromEntries(fields);
      }
      case 'array':
        return this.#blocks(from, (count) => this.several(type.items, count, from));
      case 'map': {
        const entry = () => [this.value('string', from), this.value(type.values, from)];
        return Object.fromEntries(this.#blocks(from, (count) => this.several('null', count, from).map(entry)));
      }
      case 'enum':
        return Array.isArray(type.symbols) ? type.symbols[from.long()] : null;
      case 'fixed':
        return Buffer.from(from.take(Number(type.size))).toString('base64');
      default:
        return this.value(type.type, from);
    }
  }

  /** A negative count is followed by the size of its block, for those who would skip it. */
  #blocks<T>(from: Cursor, read: (count: number) => T[]): T[] {
    const found: T[] = [];
    for (;;) {
      const count = from.long();
      if (count === 0) return found;
      if (count < 0) from.long();
      for (const item of read(Math.abs(count))) found.push(item);
    }
  }
}
