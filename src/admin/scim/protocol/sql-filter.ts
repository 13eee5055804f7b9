/** A filter as a condition of SQL that both engines answer alike. */
import { type RawBuilder, sql } from 'kysely';
import { invalidFilter } from './errors.ts';
import type { AttributePath, Comparison, Filter, Literal } from './filter.ts';

type Condition = RawBuilder<boolean>;

/** What a filter may ask about an attribute. */
export type Field =
  | {
      type: 'text';
      column: RawBuilder<string | null>;
      /** `exact`: letters of either case differ. `folded`: stored in small letters already. */
      letters: 'exact' | 'folded' | 'any';
      /** A look-up by an index where the whole value is known. */
      equals?(value: string): Condition;
    }
  | { type: 'boolean'; condition: Condition }
  | { type: 'time'; column: RawBuilder<string> }
  /** Several values: some of them fits the inner filter. */
  | { type: 'list'; some(inner: Filter): Condition };

/** Finds the field that a path names, below the resource or inside a value of a list; null where there is none. */
export type Fields = (name: string, sub: string | null) => Field | null;

export function conditionOf(filter: Filter, fields: Fields, schema: string): Condition {
  const compile = (inner: Filter): Condition => conditionOf(inner, fields, schema);
  switch (filter.kind) {
    case 'and':
      return sql<boolean>`(${compile(filter.left)} and ${compile(filter.right)})`;
    case 'or':
      return sql<boolean>`(${compile(filter.left)} or ${compile(filter.right)})`;
    case 'not':
      return sql<boolean>`(not ${compile(filter.inner)})`;
    case 'value': {
      const field = fieldAt(filter.path, fields, schema);
      if (field.type !== 'list') throw invalidFilter(`${nameOf(filter.path)} has one value, so it takes no filter`);
      return field.some(filter.inner);
    }
    case 'present':
    case 'compare': {
      const list = filter.path.sub === null ? null : listAt(filter.path, fields);
      // `emails.value eq` asks whether some value has it.
      if (list) return list.some({ ...filter, path: { urn: null, name: filter.path.sub ?? 'value', sub: null } });
      return termOf(filter, fieldAt(filter.path, fields, schema));
    }
  }
}

function listAt(path: AttributePath, fields: Fields) {
  const field = fields(path.name, null);
  return field?.type === 'list' ? field : null;
}

function fieldAt(path: AttributePath, fields: Fields, schema: string): Field {
  const isOurs = path.urn === null || path.urn === schema.toLowerCase();
  const field = isOurs ? fields(path.name, path.sub) : null;
  if (!field) throw invalidFilter(`${nameOf(path)} is no attribute that can be filtered by`);
  return field;
}

const nameOf = ({ name, sub }: AttributePath): string => (sub === null ? name : `${name}.${sub}`);

type Term = Extract<Filter, { kind: 'present' | 'compare' }>;

function termOf(term: Term, field: Field): Condition {
  if (field.type === 'list') {
    const path = { urn: null, name: 'value', sub: null };
    return field.some(term.kind === 'present' ? { kind: 'present', path } : { ...term, path });
  }
  if (field.type === 'boolean') return booleanTerm(term, field.condition);
  if (term.kind === 'present') return sql<boolean>`(${field.column} is not null and ${field.column} != '')`;
  if (term.value === null) return nullTerm(term.comparison, field.column);
  if (field.type === 'time') {
    return compared(field.column, term.comparison, sql`${momentOf(term.value)}`, String(term.value));
  }
  return textTerm(field, term.comparison, String(term.value));
}

function nullTerm(comparison: Comparison, column: RawBuilder<string | null>): Condition {
  if (comparison === 'eq') return sql<boolean>`(${column} is null or ${column} = '')`;
  if (comparison === 'ne') return sql<boolean>`(${column} is not null and ${column} != '')`;
  throw invalidFilter('null is only compared by eq and ne');
}

function booleanTerm(term: Term, condition: Condition): Condition {
  if (term.kind === 'present') return sql<boolean>`(1 = 1)`;
  const word = String(term.value).toLowerCase();
  if ((word !== 'true' && word !== 'false') || (term.comparison !== 'eq' && term.comparison !== 'ne')) {
    throw invalidFilter('A boolean is only compared by eq and ne, with true or false');
  }
  return (word === 'true') === (term.comparison === 'eq') ? condition : sql<boolean>`(not ${condition})`;
}

function momentOf(value: Literal): string {
  const moment = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(moment)) throw invalidFilter('A time must be written as in 2026-01-31T00:00:00Z');
  return new Date(moment).toISOString();
}

function textTerm(field: Extract<Field, { type: 'text' }>, comparison: Comparison, value: string): Condition {
  if (field.letters === 'folded') {
    const folded = value.toLowerCase();
    if (comparison === 'eq' && field.equals) return field.equals(folded);
    return compared(field.column, comparison, sql`${folded}`, folded);
  }
  if (comparison === 'eq' && field.letters === 'exact' && field.equals) return field.equals(value);
  const isPart = comparison === 'co' || comparison === 'sw' || comparison === 'ew';
  if (field.letters === 'exact' && !isPart) return compared(field.column, comparison, sql`${value}`, value);
  return compared(sql`lower(${field.column})`, comparison, sql`lower(${value})`, value);
}

function compared(
  column: RawBuilder<unknown>,
  comparison: Comparison,
  value: RawBuilder<unknown>,
  text: string,
): Condition {
  const like = (pattern: string) => sql<boolean>`(${column} like lower(${pattern}) escape '\\')`;
  const plain = text.replace(/[\\%_]/g, '\\$&');
  switch (comparison) {
    case 'eq':
      return sql<boolean>`(${column} = ${value})`;
    case 'ne':
      return sql<boolean>`(${column} is null or ${column} != ${value})`;
    case 'co':
      return like(`%${plain}%`);
    case 'sw':
      return like(`${plain}%`);
    case 'ew':
      return like(`%${plain}`);
    case 'gt':
      return sql<boolean>`(${column} > ${value})`;
    case 'ge':
      return sql<boolean>`(${column} >= ${value})`;
    case 'lt':
      return sql<boolean>`(${column} < ${value})`;
    case 'le':
      return sql<boolean>`(${column} <= ${value})`;
  }
}
