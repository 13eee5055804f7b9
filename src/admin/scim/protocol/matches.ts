/** Whether one value of a multi-valued attribute fits a filter: `emails[type eq "work"]` in a path of PATCH. */
import { invalidFilter } from './errors.ts';
import type { Comparison, Filter, Literal } from './filter.ts';

export type Entry = Readonly<Record<string, unknown>>;

export function fits(entry: Entry, filter: Filter): boolean {
  switch (filter.kind) {
    case 'and':
      return fits(entry, filter.left) && fits(entry, filter.right);
    case 'or':
      return fits(entry, filter.left) || fits(entry, filter.right);
    case 'not':
      return !fits(entry, filter.inner);
    case 'present':
      return fieldOf(entry, filter.path.name) !== undefined;
    case 'compare':
      return compares(fieldOf(entry, filter.path.name), filter.comparison, filter.value);
    case 'value':
      throw invalidFilter('A filter on values holds no further one');
  }
}

/** The names that a filter asks for, in small letters. */
export function namesIn(filter: Filter): string[] {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return [...namesIn(filter.left), ...namesIn(filter.right)];
    case 'not':
      return namesIn(filter.inner);
    default:
      return [filter.path.name];
  }
}

/** The fields that a new value must have to fit: those of a filter that is nothing but equalities; null for any other. */
export function fieldsToFit(filter: Filter): Record<string, Literal> | null {
  if (filter.kind === 'compare' && filter.comparison === 'eq') return { [filter.path.name]: filter.value };
  if (filter.kind !== 'and') return null;
  const [left, right] = [fieldsToFit(filter.left), fieldsToFit(filter.right)];
  return left && right && { ...left, ...right };
}

const fieldOf = (entry: Entry, name: string): unknown =>
  Object.entries(entry).find(([key]) => key.toLowerCase() === name)?.[1];

function compares(found: unknown, comparison: Comparison, wanted: Literal): boolean {
  if (found === undefined || found === null) return comparison === 'ne' ? wanted !== null : wanted === null;
  // Entra writes booleans as words.
  const [one, other] = [String(found).toLowerCase(), String(wanted).toLowerCase()];
  switch (comparison) {
    case 'eq':
      return one === other;
    case 'ne':
      return one !== other;
    case 'co':
      return one.includes(other);
    case 'sw':
      return one.startsWith(other);
    case 'ew':
      return one.endsWith(other);
    case 'gt':
      return one > other;
    case 'ge':
      return one >= other;
    case 'lt':
      return one < other;
    case 'le':
      return one <= other;
  }
}
