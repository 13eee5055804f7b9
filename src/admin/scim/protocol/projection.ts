/** `attributes` and `excludedAttributes`: which part of a resource the client wants to see. */
import type { ResourceKind } from './attributes.ts';
import { invalidValue } from './errors.ts';
import { attributePath } from './filter.ts';
import { isObject, type ScimResource } from './patch.ts';

export interface Projection {
  /** Whether this attribute would be shown, so that nobody reads a long list in vain. */
  shows(attribute: string): boolean;
  of(resource: ScimResource): ScimResource;
}

const always = ['schemas', 'id'];
const mostNames = 100;

interface Named {
  name: string;
  sub: string | null;
}

export function projectionOf(kind: ResourceKind, attributes: string | null, excluded: string | null): Projection {
  if (attributes !== null && attributes !== '') return including(namesIn(kind, attributes));
  if (excluded !== null && excluded !== '') return excluding(namesIn(kind, excluded));
  return { shows: () => true, of: (resource) => resource };
}

function namesIn(kind: ResourceKind, text: string): Named[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length > mostNames) throw invalidValue(`At most ${mostNames} attributes can be named`);
  return names.flatMap((name) => {
    const { urn, name: attribute, sub } = attributePath(name);
    // Attributes of other schemas are not there in any case.
    return urn === null || urn === kind.schema.toLowerCase() ? [{ name: attribute, sub }] : [];
  });
}

function including(names: readonly Named[]): Projection {
  const wanted = (attribute: string) => names.filter(({ name }) => name === attribute.toLowerCase());
  return {
    shows: (attribute) => wanted(attribute).length > 0,
    of: (resource) =>
      Object.fromEntries(
        Object.entries(resource).flatMap(([attribute, value]) => {
          if (always.includes(attribute)) return [[attribute, value]];
          const found = wanted(attribute);
          if (found.length === 0) return [];
          if (found.some(({ sub }) => sub === null)) return [[attribute, value]];
          const subs = new Set(found.map(({ sub }) => sub));
          return [[attribute, parts(value, (name) => subs.has(name.toLowerCase()))]];
        }),
      ),
  };
}

function excluding(names: readonly Named[]): Projection {
  const hidden = (attribute: string) => names.filter(({ name }) => name === attribute.toLowerCase());
  const isHidden = (attribute: string) =>
    !always.includes(attribute) && hidden(attribute).some(({ sub }) => sub === null);
  return {
    shows: (attribute) => !isHidden(attribute),
    of: (resource) =>
      Object.fromEntries(
        Object.entries(resource).flatMap(([attribute, value]) => {
          if (isHidden(attribute)) return [];
          const subs = new Set(hidden(attribute).map(({ sub }) => sub));
          return [[attribute, subs.size === 0 ? value : parts(value, (name) => !subs.has(name.toLowerCase()))]];
        }),
      ),
  };
}

function parts(value: unknown, keeps: (name: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((entry) => parts(entry, keeps));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => keeps(name)));
}
