/** Queries of conditional routing: compiled once into functions, asked about each request. */
import { compilePattern, type Fuel, type PatternRoom } from '../patterns/pattern.ts';

/** What a query can ask about. */
export interface RequestFacts {
  /** The request's metadata after all levels were merged. */
  metadata: Readonly<Record<string, unknown>>;
  /** The client's body, or the text fields of its form, before any shaping. */
  params: Readonly<Record<string, unknown>>;
  /** With the version segment: `/v1/chat/completions`. */
  pathname: string;
  headers: { get(name: string): string | null };
  /** The endpoint kind. */
  kind: string;
}

export type Query = (facts: RequestFacts, fuel: Fuel) => boolean;

type Value = string | number | boolean | null;
type Read = (facts: RequestFacts) => Value | undefined;
/** One operator with its operand; a missing value reaches only `$exists`. */
type Comparison = (value: Value, fuel: Fuel) => boolean;

/** About ten milliseconds of pattern matching for all conditions of one request together. */
const stepsPerRequest = 500_000;
/** For all patterns of one config together. */
const instructionsPerConfig = 100_000;

export const newPatternRoom = (): PatternRoom => ({ instructions: instructionsPerConfig });

/** Whether a query holds for a request. */
export const queryHolds = (query: Query, facts: RequestFacts): boolean => query(facts, { steps: stepsPerRequest });

/** The child that a conditional strategy sends a request to; null when no query holds and there is no default. */
export function chosenChild(
  strategy: { conditions: readonly { query: Query; child: number }[]; defaultChild: number | null },
  facts: RequestFacts,
): { child: number; condition: number | null } | null {
  const fuel: Fuel = { steps: stepsPerRequest };
  const condition = strategy.conditions.findIndex(({ query }) => query(facts, fuel));
  const chosen = strategy.conditions[condition];
  if (chosen) return { child: chosen.child, condition };
  return strategy.defaultChild === null ? null : { child: strategy.defaultChild, condition: null };
}

/**
 * A query as a function. What is malformed (an unknown operator, an address that names nothing) makes the whole query never hold,
 * so that the next condition gets its turn; the warnings say what was wrong.
 */
export function compileQuery(
  query: unknown,
  room: PatternRoom = newPatternRoom(),
): { query: Query; warnings: string[] } {
  const compiler = new QueryCompiler(room);
  const compiled = compiler.query(query);
  return { query: compiler.malformed ? () => false : compiled, warnings: compiler.warnings };
}

class QueryCompiler {
  readonly warnings: string[] = [];
  malformed = false;

  constructor(private readonly room: PatternRoom) {}

  query(query: unknown): Query {
    if (!isObject(query)) return this.refuse('a query is an object');
    return all(Object.entries(query).map(([key, operand]) => this.entry(key, operand)));
  }

  private entry(key: string, operand: unknown): Query {
    switch (key) {
      case '$and':
        return all(this.queries(key, operand));
      case '$or':
        return any(this.queries(key, operand));
      case '$not': {
        const inner = this.query(operand);
        return (facts, fuel) => !inner(facts, fuel);
      }
      default: {
        const read = addressed(key);
        return read ? this.comparisons(key, read, operand) : this.refuse(`${key} names nothing in a request`);
      }
    }
  }

  private queries(operator: string, operand: unknown): Query[] {
    if (!Array.isArray(operand)) return [this.refuse(`${operator} takes a list of queries`)];
    return operand.map((query) => this.query(query));
  }

  private comparisons(key: string, read: Read, operand: unknown): Query {
    const operators: [string, unknown][] = isObject(operand) ? Object.entries(operand) : [['$eq', operand]];
    if (operators.length === 0 || Array.isArray(operand)) return this.refuse(`${key} is compared with nothing`);
    return all(operators.map(([operator, against]) => this.comparison(key, read, operator, against)));
  }

  private comparison(key: string, read: Read, operator: string, operand: unknown): Query {
    if (operator === '$exists') return (facts) => (read(facts) !== undefined) === (operand !== false);
    const compare = operator === '$regex' ? this.pattern(key, operand) : comparisonOf(operator, operand);
    if (!compare) return this.refuse(`${key}: ${operator} is not an operator`);
    return (facts, fuel) => {
      const value = read(facts);
      return value !== undefined && compare(value, fuel);
    };
  }

  /** A pattern that cannot be used matches nothing, but leaves the rest of its query standing. */
  private pattern(key: string, operand: unknown): Comparison {
    const result = typeof operand === 'string' ? compilePattern(operand, this.room) : { fault: 'is not a text' };
    if ('fault' in result) {
      this.warnings.push(`${key}: the pattern ${result.fault}`);
      return () => false;
    }
    return (value, fuel) => result.pattern.test(String(value), fuel);
  }

  private refuse(warning: string): Query {
    this.warnings.push(warning);
    this.malformed = true;
    return () => false;
  }
}

function comparisonOf(operator: string, operand: unknown): Comparison | null {
  switch (operator) {
    case '$eq':
      return (value) => value === operand;
    case '$ne':
      return (value) => value !== operand;
    case '$gt':
      return numeric(operand, (value, bound) => value > bound);
    case '$gte':
      return numeric(operand, (value, bound) => value >= bound);
    case '$lt':
      return numeric(operand, (value, bound) => value < bound);
    case '$lte':
      return numeric(operand, (value, bound) => value <= bound);
    case '$in':
      return membership(operand, true);
    case '$nin':
      return membership(operand, false);
    case '$contains':
      return (value) => typeof value === 'string' && typeof operand === 'string' && value.includes(operand);
    default:
      return null;
  }
}

/** Whatever is no number on either side compares as false, as NaN does. */
function numeric(operand: unknown, compare: (value: number, bound: number) => boolean): Comparison {
  const bound = Number.parseFloat(String(operand));
  return (value) => compare(Number.parseFloat(String(value)), bound);
}

function membership(operand: unknown, expected: boolean): Comparison {
  if (!Array.isArray(operand)) return () => false;
  const members = new Set<unknown>(operand);
  return (value) => members.has(value) === expected;
}

/** Routing must not let the writer of a config find out, guess by guess, what its callers authenticate with. */
const credentialHeaders = new Set(['authorization', 'proxy-authorization', 'cookie', 'x-api-key', 'x-gw-api-key']);

/** How to read the value at an address of exactly two segments, or `endpoint_type`; null when nothing has this address. */
function addressed(address: string): Read | null {
  if (address === 'endpoint_type') return (facts) => facts.kind;
  if (address === 'url.pathname') return (facts) => facts.pathname;
  const [source, name, ...more] = address.split('.');
  if (!name || more.length > 0) return null;
  if (source === 'metadata') return (facts) => primitive(facts.metadata, name);
  if (source === 'params') return (facts) => primitive(facts.params, name);
  if (source !== 'headers' || credentialHeaders.has(name.toLowerCase()) || !/^[\w!#$%&'*+^`|~-]+$/.test(name))
    return null;
  return (facts) => facts.headers.get(name) ?? undefined;
}

function primitive(holder: Readonly<Record<string, unknown>>, name: string): Value | undefined {
  if (!Object.hasOwn(holder, name)) return undefined;
  const value = holder[name];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null
    ? value
    : undefined;
}

const all =
  (queries: readonly Query[]): Query =>
  (facts, fuel) =>
    queries.every((query) => query(facts, fuel));

const any =
  (queries: readonly Query[]): Query =>
  (facts, fuel) =>
    queries.some((query) => query(facts, fuel));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
