/** Names of tools that are longer than most providers take: they travel shortened, always to the same name, and come back whole. */
import { createHash } from 'node:crypto';
import { objectsOf, textOf } from '../json.ts';
import type { CallFacts } from '../provider.ts';

const longest = 64;
const markLength = 8;

export function shortName(name: string): string {
  if (name.length <= longest) return name;
  const mark = createHash('sha256').update(name).digest('hex').slice(0, markLength);
  return `${name.slice(0, longest - markLength - 1)}_${mark}`;
}

/** The name that the client knows, for a name that a model called. */
export function wholeNames({ body }: CallFacts): (called: string) => string {
  const names = objectsOf(body.tools).map(({ name }) => textOf(name) ?? '');
  const whole = new Map(names.filter((name) => name.length > longest).map((name) => [shortName(name), name]));
  return (called) => whole.get(called) ?? called;
}
