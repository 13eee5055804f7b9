/** Plans for tests: from a config as a customer would write it. */
import { compileConfig, parseConfig } from '../src/catalog/compile.ts';
import type { Leaf, Plan, PlanNode } from '../src/catalog/plan.ts';

export type Json = Record<string, unknown>;

export const planIdentity = { id: 'config-1', saved: { configId: 'config-1', slug: 'pc-1', versionId: 'v-1' } };

export function planOf(config: Json): Plan {
  const parsed = parseConfig(config, 'inline');
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  return compileConfig(parsed.config, { ...planIdentity, ignoredKeys: parsed.ignoredKeys });
}

export const leavesOf = (node: PlanNode): Leaf[] => (node.kind === 'leaf' ? [node] : node.children.flatMap(leavesOf));

/** The first leaf of a config. */
export function leafOf(config: Json): Leaf {
  const [leaf] = leavesOf(planOf(config).root);
  if (!leaf) throw new Error('the plan has no leaf');
  return leaf;
}

export const fallback = (targets: Json[], more: Json = {}, strategy: Json = {}): Json => ({
  strategy: { mode: 'fallback', ...strategy },
  targets,
  ...more,
});

/** A condition; its `then` is spelled only here, because linters take objects with such a key for promises. */
export const when = (query: Json, target: string): Json =>
  Object.fromEntries([
    ['query', query],
    ['then', target],
  ]);

/** Those fields of a value that `expected` has, to be compared as a whole: `toMatchObject` does not look into sets. */
export const fieldsLike = (value: object, expected: object): Json =>
  Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(expected, name)));
