/** PATCH of RFC 7644 (section 3.5.2) on a resource as JSON, in the forms that Entra and Okta send. */
import { z } from 'zod';
import { type Attribute, attributeOf, type ResourceKind, subAttributeOf } from './attributes.ts';
import { invalidPath, invalidSyntax, invalidValue, mutability, noTarget, ScimError } from './errors.ts';
import { type Filter, type PatchPath, parsePatchPath } from './filter.ts';
import { type Entry, fieldsToFit, fits, namesIn } from './matches.ts';

export type ScimResource = Record<string, unknown>;

const mostOperations = 1_000;

const requestSchema = z.object({
  Operations: z
    .array(z.object({ op: z.string().max(20), path: z.string().max(4_000).optional(), value: z.unknown().optional() }))
    .min(1)
    .max(mostOperations),
});

interface Operation {
  op: 'add' | 'replace' | 'remove';
  path?: string | undefined;
  value?: unknown;
}

/** The operations of a request; names of fields in any case, as Entra once wrote them. */
export function operationsOf(body: unknown): Operation[] {
  const parsed = requestSchema.safeParse(withKnownNames(body));
  if (!parsed.success) {
    throw invalidSyntax(`Send Operations, a list of at most ${mostOperations} objects with op, path and value`);
  }
  return parsed.data.Operations.map(({ op, path, value }) => {
    const name = op.toLowerCase();
    if (name !== 'add' && name !== 'replace' && name !== 'remove') {
      throw invalidSyntax(`${op} is no operation; use add, replace or remove`);
    }
    return { op: name, value, ...(path !== undefined && path.trim() !== '' && { path }) };
  });
}

function withKnownNames(body: unknown): unknown {
  if (!isObject(body)) return body;
  const operations = Object.entries(body).find(([name]) => name.toLowerCase() === 'operations')?.[1];
  return { Operations: operations };
}

/** The resource with the operations applied in order; the resource itself stays as it is. */
export function patched(resource: ScimResource, kind: ResourceKind, operations: readonly Operation[]): ScimResource {
  const copy = structuredClone(resource);
  for (const operation of operations) apply(copy, kind, operation);
  return copy;
}

/** A whole resource as it was sent, by proper names and without what this service does not keep. `own` is what it must agree with. */
export function normalised(body: unknown, kind: ResourceKind, own: { id?: string }): ScimResource {
  if (!isObject(body)) throw invalidSyntax('Send the resource as a JSON object');
  const isOfClient = ([name]: [string, unknown]) => own.id !== undefined || name.toLowerCase() !== 'id';
  return patched(own, kind, [{ op: 'replace', value: Object.fromEntries(Object.entries(body).filter(isOfClient)) }]);
}

function apply(resource: ScimResource, kind: ResourceKind, { op, path, value }: Operation): void {
  if (path !== undefined) {
    applyAt(resource, kind, op, readPath(path), value, true);
    return;
  }
  if (op === 'remove') throw noTarget('A remove operation needs a path');
  if (!isObject(value)) throw invalidValue('An operation without a path needs an object of attributes as its value');
  for (const [name, field] of Object.entries(value)) {
    if (name.toLowerCase() === kind.schema.toLowerCase()) apply(resource, kind, { op, value: field });
    // Keys may be paths themselves: `name.givenName`, `emails[type eq "work"].value`.
    else applyAt(resource, kind, op, readPath(name), field, false);
  }
}

function readPath(text: string): PatchPath {
  try {
    return parsePatchPath(text);
  } catch (error) {
    if (error instanceof ScimError)
      throw invalidPath(`The path ${text.slice(0, 200)} cannot be read: ${error.message}`);
    throw error;
  }
}

function applyAt(
  resource: ScimResource,
  kind: ResourceKind,
  op: Operation['op'],
  path: PatchPath,
  value: unknown,
  byPath: boolean,
): void {
  const { name, urn } = path.attribute;
  if (urn !== null && urn !== kind.schema.toLowerCase()) return;
  const sub = path.sub;
  if (kind.ignored.has(name) || (sub !== null && kind.ignored.has(`${name}.${sub}`) && path.filter === null)) return;
  const attribute = attributeOf(kind, name);
  if (!attribute) {
    if (!byPath) return;
    throw invalidPath(`${kind.name} has no attribute ${path.attribute.name}`);
  }
  if (attribute.mutability === 'readOnly') {
    const isSame = sameText(resource[attribute.name], value);
    // Okta repeats the id of a group in the value; another id than its own is a mistake.
    if (!isSame && (byPath || attribute.name === 'id')) throw mutability(`${attribute.name} cannot be changed`);
    return;
  }
  if (path.filter) applyToMatches(resource, kind, attribute, op, path.filter, sub, value);
  else if (sub !== null) applyToPart(resource, kind, attribute, op, sub, value);
  else applyWhole(resource, attribute, op, value);
}

const sameText = (one: unknown, other: unknown): boolean => typeof one === 'string' && one === other;

function applyWhole(resource: ScimResource, attribute: Attribute, op: Operation['op'], value: unknown): void {
  const { name } = attribute;
  if (attribute.multiValued) {
    const before = listOf(resource[name]);
    if (op === 'remove') resource[name] = value === undefined || value === null ? [] : without(before, value);
    else resource[name] = op === 'replace' ? entriesOf(attribute, value) : joined(before, entriesOf(attribute, value));
    return;
  }
  if (op === 'remove' || value === null) {
    delete resource[name];
  } else if (attribute.type === 'complex') {
    if (!isObject(value)) throw invalidValue(`${name} needs an object`);
    resource[name] = { ...(isObject(resource[name]) && resource[name]), ...namedParts(attribute, value) };
  } else {
    resource[name] = simpleValue(attribute, value);
  }
}

/** A sub-attribute without a filter: of a single value, or of every value of a list. */
function applyToPart(
  resource: ScimResource,
  kind: ResourceKind,
  attribute: Attribute,
  op: Operation['op'],
  sub: string,
  value: unknown,
): void {
  const part = partOf(kind, attribute, sub);
  if (attribute.multiValued) {
    const entries = listOf(resource[attribute.name]);
    const made = op !== 'remove' && entries.length === 0 ? [{}] : entries;
    resource[attribute.name] = made.map((entry) => withPart(entry, part, op, value));
    return;
  }
  const before = resource[attribute.name];
  resource[attribute.name] = withPart(isObject(before) ? before : {}, part, op, value);
}

function applyToMatches(
  resource: ScimResource,
  kind: ResourceKind,
  attribute: Attribute,
  op: Operation['op'],
  filter: Filter,
  sub: string | null,
  value: unknown,
): void {
  if (!attribute.multiValued) throw invalidPath(`${attribute.name} has one value, so it takes no filter`);
  const unknown = namesIn(filter).find((name) => name !== 'primary' && !subAttributeOf(attribute, name));
  if (unknown) throw invalidPath(`${attribute.name} of ${kind.name} has no ${unknown}`);
  const part =
    sub === null || kind.ignored.has(`${attribute.name.toLowerCase()}.${sub}`) ? null : partOf(kind, attribute, sub);
  if (sub !== null && part === null) return;
  const entries = listOf(resource[attribute.name]);
  const change = (entry: Entry): Entry | null => {
    if (part) return withPart(entry, part, op, value);
    if (op === 'remove') return null;
    if (!isObject(value)) throw invalidValue(`A value of ${attribute.name} is an object`);
    return { ...(op === 'add' && entry), ...namedParts(attribute, value) };
  };
  if (entries.some((entry) => fits(entry, filter))) {
    resource[attribute.name] = entries.flatMap((entry) => (fits(entry, filter) ? (change(entry) ?? []) : [entry]));
    return;
  }
  if (op === 'remove') return;
  // Entra adds, and at times replaces, a value that is not there yet and means one that fits.
  const fields = op === 'add' || part ? fieldsToFit(filter) : null;
  if (!fields) throw noTarget(`No value of ${attribute.name} fits the filter`);
  const made = change(namedParts(attribute, fields));
  resource[attribute.name] = joined(entries, made ? [made] : []);
}

function partOf(kind: ResourceKind, attribute: Attribute, sub: string): Attribute {
  const part = subAttributeOf(attribute, sub);
  if (!part) throw invalidPath(`${attribute.name} of ${kind.name} has no ${sub}`);
  if (part.mutability === 'readOnly') throw mutability(`${attribute.name}.${part.name} cannot be changed`);
  return part;
}

function withPart(entry: Entry, part: Attribute, op: Operation['op'], value: unknown): Entry {
  const { [part.name]: _, ...rest } = entry;
  return op === 'remove' || value === null ? rest : { ...rest, [part.name]: simpleValue(part, value) };
}

/** Values of a list: a list, or a single one of them; a text stands for its value. */
function entriesOf(attribute: Attribute, value: unknown): Entry[] {
  const values = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  return values.map((entry) => {
    if (isObject(entry)) return namedParts(attribute, entry);
    if (typeof entry === 'string') return { value: entry };
    throw invalidValue(`A value of ${attribute.name} is an object`);
  });
}

/** Known sub-attributes by their proper names; others are left out, but for those of roles, which are read apart. */
function namedParts(attribute: Attribute, value: Entry): Entry {
  const parts: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    const part = subAttributeOf(attribute, name.toLowerCase());
    if (part && field !== null) parts[part.name] = simpleValue(part, field);
    else if (!part && name.toLowerCase() === 'primary') parts.primary = field;
  }
  return parts;
}

function joined(before: readonly Entry[], added: readonly Entry[]): Entry[] {
  const isNewPrimary = added.some((entry) => isTrue(entry.primary));
  const kept = isNewPrimary
    ? before.map((entry) => (isTrue(entry.primary) ? { ...entry, primary: false } : entry))
    : before;
  const known = new Set(kept.map((entry) => entry.value));
  return [...kept, ...added.filter((entry) => entry.value === undefined || !known.has(entry.value))];
}

/** Entra removes values by naming them in a list instead of in a filter. */
function without(before: readonly Entry[], value: unknown): Entry[] {
  const named = new Set(
    (Array.isArray(value) ? value : [value]).map((entry) => (isObject(entry) ? entry.value : entry)),
  );
  return before.filter((entry) => !named.has(entry.value));
}

function simpleValue(attribute: Attribute, value: unknown): unknown {
  const found = unwrapped(value);
  if (attribute.type === 'boolean') {
    if (typeof found === 'boolean') return found;
    const word = typeof found === 'string' ? found.toLowerCase() : '';
    if (word === 'true' || word === 'false') return word === 'true';
    throw invalidValue(`${attribute.name} must be true or false`);
  }
  if (typeof found === 'string' || typeof found === 'number') return String(found);
  throw invalidValue(`${attribute.name} must be a text`);
}

/** Entra once sent a single value as a list of one object. */
function unwrapped(value: unknown): unknown {
  if (!Array.isArray(value) || value.length !== 1) return value;
  const [only] = value;
  return isObject(only) ? only.value : only;
}

const isTrue = (value: unknown): boolean => value === true || String(value).toLowerCase() === 'true';

const listOf = (value: unknown): Entry[] => (Array.isArray(value) ? value.filter(isObject) : []);

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
