/** The schema of a structured answer, closed as providers want it: this dialect's own are closed by convention. */
import { isObject, listOf, objectOf } from '../../json.ts';
import type { JsonObject } from '../../provider.ts';

/** Objects that do not say what else they allow allow nothing. */
export function closed(schema: Readonly<JsonObject>): JsonObject {
  const copy: JsonObject = {};
  for (const [name, value] of Object.entries(schema))
    copy[name] = maps.has(name) ? closedMap(value) : closedValue(value);
  if (copy.type === 'object' && copy.additionalProperties === undefined) copy.additionalProperties = false;
  return copy;
}

/** Fields whose own fields are names, not words of the schema language. */
const maps = new Set(['properties', '$defs', 'definitions', 'patternProperties']);

const closedMap = (value: unknown): unknown =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, closedValue(inner)]))
    : value;

function closedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closedValue);
  return isObject(value) ? closed(value) : value;
}

/** Whether every property of every object is required: elsewhere a strict mode would refuse it. */
export function isFullyRequired(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isFullyRequired);
  if (!isObject(schema)) return true;
  const required = new Set(listOf(schema.required));
  const names = Object.keys(objectOf(schema.properties));
  if (schema.type === 'object' && !names.every((name) => required.has(name))) return false;
  return Object.entries(schema).every(([name, value]) =>
    maps.has(name) ? Object.values(objectOf(value)).every(isFullyRequired) : isFullyRequired(value),
  );
}
