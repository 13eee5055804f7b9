/** How many targets a config may have. Checked when a request uses it, because the limits are the installation's and may change after it was saved. */
import type { ConfigBody } from './config-schema.ts';
import { strategyOf } from './effective-strategy.ts';

export interface TargetLimits {
  root: number;
  conditionalRoot: number;
  /** Below one root target, all depths together. */
  nested: number;
}

/** Levels of configs, the root being the first. */
const deepestConfig = 10;

/** What is too much in a config, or null. */
export function exceededTargetLimit(config: ConfigBody, limits: TargetLimits): string | null {
  const targets = targetsOf(config);
  const conditional = config.strategy?.mode === 'conditional';
  const most = conditional ? limits.conditionalRoot : limits.root;
  if (targets.length > most) {
    const kind = conditional ? 'a conditional config' : 'a config';
    return `config.targets has ${targets.length} targets; ${kind} may have ${most}`;
  }
  for (const [index, target] of targets.entries()) {
    const nested = targetsBelow(target);
    if (nested > limits.nested) {
      return `config.targets[${index}] has ${nested} nested targets; a target may have ${limits.nested}`;
    }
  }
  const levels = levelsOf(config);
  return levels > deepestConfig ? `the config has ${levels} levels of targets; ${deepestConfig} are allowed` : null;
}

/** Without a strategy the targets of a node are not used. */
const targetsOf = (node: ConfigBody): readonly ConfigBody[] => (strategyOf(node) ? (node.targets ?? []) : []);

const targetsBelow = (node: ConfigBody): number =>
  targetsOf(node).reduce((sum, target) => sum + 1 + targetsBelow(target), 0);

const levelsOf = (node: ConfigBody): number => 1 + Math.max(0, ...targetsOf(node).map(levelsOf));
