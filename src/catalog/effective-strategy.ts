/** The strategy of a node, also where it writes none down. */
import type { ConfigBody } from './config-schema.ts';

type Strategy = NonNullable<ConfigBody['strategy']>;

const single: Strategy = { mode: 'single' };

/** With a provider of its own a node is a leaf, and its targets are not used. */
const hasProvider = ({ provider, virtual_key: virtualKey }: ConfigBody): boolean =>
  provider !== undefined || virtualKey !== undefined;

/** A lone target needs nobody to choose it. */
export function strategyOf(node: ConfigBody): Strategy | undefined {
  if (node.strategy) return node.strategy;
  return node.targets?.length === 1 && !hasProvider(node) ? single : undefined;
}

/** Several targets, and nothing that says how to choose among them. */
export const lacksStrategy = (node: ConfigBody): boolean =>
  node.targets !== undefined && !hasProvider(node) && strategyOf(node) === undefined;
