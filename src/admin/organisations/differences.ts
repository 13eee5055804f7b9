/** What an update changed, for the audit row: each field with its old and its new value. */

type Differences = Record<string, { old: unknown; new: unknown }>;

/** Fields of `after` that differ from `before`; where both hold an object, its fields are compared one by one. */
export function differences(before: object, after: object, prefix = ''): Differences {
  const old = new Map<string, unknown>(Object.entries(before));
  const found: Differences = {};
  for (const [name, value] of Object.entries(after)) {
    const was = old.get(name) ?? null;
    if (isPlainObject(was) && isPlainObject(value)) Object.assign(found, differences(was, value, `${prefix}${name}.`));
    else if (JSON.stringify(was) !== JSON.stringify(value)) found[prefix + name] = { old: was, new: value };
  }
  return found;
}

const isPlainObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
