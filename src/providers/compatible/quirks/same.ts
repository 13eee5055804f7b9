/** Changes inside JSON that leave the very same object where nothing changes. */
import { isObject } from '../../json.ts';
import type { JsonObject } from '../../provider.ts';

/** A list of which some entries are replaced; whatever is no object stays as it is. */
export function mapped(list: readonly unknown[], change: (entry: JsonObject) => JsonObject): readonly unknown[] {
  let changed = false;
  const entries = list.map((entry) => {
    const made = isObject(entry) ? change(entry) : entry;
    if (made !== entry) changed = true;
    return made;
  });
  return changed ? entries : list;
}

/** The entries of the list under this name, if there is one. */
export function eachIn<Holder extends Readonly<JsonObject>>(
  holder: Holder,
  name: string,
  change: (entry: JsonObject) => JsonObject,
): Holder {
  const list = holder[name];
  if (!Array.isArray(list)) return holder;
  const entries = mapped(list, change);
  return entries === list ? holder : { ...holder, [name]: entries };
}

/** The object under this name, if there is one. */
export function inside<Holder extends Readonly<JsonObject>>(
  holder: Holder,
  name: string,
  change: (inner: JsonObject) => JsonObject,
): Holder {
  const inner = holder[name];
  if (!isObject(inner)) return holder;
  const made = change(inner);
  return made === inner ? holder : { ...holder, [name]: made };
}

export function lacking(holder: JsonObject, ...names: readonly string[]): JsonObject {
  if (!names.some((name) => name in holder)) return holder;
  return Object.fromEntries(Object.entries(holder).filter(([name]) => !names.includes(name)));
}
