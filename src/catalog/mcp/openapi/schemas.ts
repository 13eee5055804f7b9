/** Schemas of an OpenAPI document with everything that they refer to written out; nothing outside of the document is read. */

export type Json = Record<string, unknown>;

export const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
export const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const mostValues = 5_000;
const mostValuesOfAll = 200_000;
const mostHops = 20;

/** Words of documents that no model needs. */
const dropped = new Set(['xml', 'externalDocs', 'example', 'examples', 'discriminator', '$schema', '$id']);

class TooLarge extends Error {}

export class Schemas {
  readonly #document: Json;
  #left = mostValuesOfAll;

  constructor(document: Json) {
    this.#document = document;
  }

  /** What a reference leads to; the value itself where it is none; undefined where it leads nowhere. */
  resolved(value: unknown): unknown {
    let found = value;
    for (let hop = 0; hop < mostHops; hop++) {
      const reference = asObject(found).$ref;
      if (typeof reference !== 'string') return found;
      found = this.#at(reference);
    }
    return undefined;
  }

  #at(reference: string): unknown {
    if (!reference.startsWith('#/')) return undefined;
    return reference
      .slice(2)
      .split('/')
      .map((part) => decoded(part).replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>(
        (value, part) => (Object.hasOwn(asObject(value), part) ? asObject(value)[part] : undefined),
        this.#document,
      );
  }

  /** Null where it refers to something that is not in the document. What refers to itself ends in any object; what is too large becomes any value. */
  inlined(schema: unknown): Json | null {
    const budget = { left: Math.min(mostValues, this.#left) };
    const before = budget.left;
    try {
      const written = this.#written(schema, [], budget);
      return written === undefined ? null : asObject(written);
    } catch (fault) {
      if (fault instanceof TooLarge) return {};
      throw fault;
    } finally {
      this.#left -= before - budget.left;
    }
  }

  #written(value: unknown, above: readonly string[], budget: { left: number }): unknown {
    if (--budget.left < 0) throw new TooLarge();
    if (Array.isArray(value)) return value.map((item) => this.#written(item, above, budget));
    if (typeof value !== 'object' || value === null) return value;
    const reference = asObject(value).$ref;
    if (typeof reference === 'string') {
      if (above.includes(reference)) return { type: 'object' };
      const found = this.resolved(value);
      return found === undefined ? undefined : this.#written(found, [...above, reference], budget);
    }
    const fields: Json = {};
    for (const [name, field] of Object.entries(value)) {
      if (dropped.has(name) || name.startsWith('x-')) continue;
      const written = this.#written(field, above, budget);
      if (written === undefined) return undefined;
      fields[name] = written;
    }
    return fields;
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A percent sign that begins nothing stands for itself.
    return part;
  }
}
