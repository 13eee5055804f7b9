/** Reads a client's JSON field by field: what is wrong is refused with the field's path. A field that is null counts as absent. */
import { RequestFault } from './faults.ts';
import { isObject } from './json.ts';
import type { JsonObject } from './provider.ts';

export class Fields {
  readonly json: Readonly<JsonObject>;
  readonly path: string;

  constructor(json: Readonly<JsonObject>, path = '') {
    this.json = json;
    this.path = path;
  }

  static of(value: unknown, path: string): Fields {
    if (!isObject(value)) throw new RequestFault(path, `${path} must be an object`);
    return new Fields(value, path);
  }

  /** The path of one of the fields. */
  at(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  has(name: string): boolean {
    return this.json[name] !== undefined && this.json[name] !== null;
  }

  text(name: string): string | null {
    return this.#typed(name, (value): value is string => typeof value === 'string', 'a string');
  }

  number(name: string): number | null {
    // 1e999 is a number to a parser, and null to whoever is sent it.
    return this.#typed(name, (value): value is number => Number.isFinite(value), 'a number');
  }

  flag(name: string): boolean | null {
    return this.#typed(name, (value): value is boolean => typeof value === 'boolean', 'true or false');
  }

  object(name: string): Fields | null {
    return this.has(name) ? Fields.of(this.json[name], this.at(name)) : null;
  }

  /** As the client wrote it. */
  raw(name: string): Readonly<JsonObject> | null {
    return this.object(name)?.json ?? null;
  }

  list(name: string): readonly unknown[] | null {
    return this.#typed(name, (value): value is readonly unknown[] => Array.isArray(value), 'a list');
  }

  /** The entries of a list, each an object. */
  objects(name: string): readonly Fields[] | null {
    return this.list(name)?.map((entry, index) => Fields.of(entry, `${this.at(name)}[${index}]`)) ?? null;
  }

  /** A string, or a list of them. */
  texts(name: string): readonly string[] {
    const value = this.json[name];
    if (value === undefined || value === null) return [];
    const list = Array.isArray(value) ? value : [value];
    return list.map((entry) => {
      if (typeof entry === 'string') return entry;
      throw new RequestFault(this.at(name), `${this.at(name)} must be a string or a list of strings`);
    });
  }

  needText(name: string): string {
    return this.text(name) ?? this.#missing(name);
  }

  needObject(name: string): Fields {
    return this.object(name) ?? this.#missing(name);
  }

  needObjects(name: string): readonly Fields[] {
    return this.objects(name) ?? this.#missing(name);
  }

  /** The fields that are none of these. */
  others(known: ReadonlySet<string>): JsonObject {
    return Object.fromEntries(Object.entries(this.json).filter(([name]) => !known.has(name)));
  }

  #missing(name: string): never {
    throw new RequestFault(this.at(name), `${this.at(name)} is missing`);
  }

  #typed<T>(name: string, is: (value: unknown) => value is T, kind: string): T | null {
    const value = this.json[name];
    if (value === undefined || value === null) return null;
    if (is(value)) return value;
    throw new RequestFault(this.at(name), `${this.at(name)} must be ${kind}`);
  }
}
