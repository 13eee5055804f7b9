/** Reading fields of JSON that somebody else wrote. */

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The first of these fields that holds a text; null where none does. */
export function textIn(fields: Fields, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return null;
}

/** Every text in these fields; those who read JSON loosely take any of their spellings. */
export const allTextsIn = (fields: Fields, ...names: readonly string[]): string[] =>
  names.flatMap((name) => textsIn([fields[name]].flat()));

export const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string' && item !== '') : [];

export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
