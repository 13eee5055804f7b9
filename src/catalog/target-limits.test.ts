/** How many targets a config may have, and how deep they may stand. */
import { describe, expect, test } from 'bun:test';
import { type Json, when } from '../../test/plans.ts';
import { parseConfig } from './parse-config.ts';
import { exceededTargetLimit } from './target-limits.ts';

const limits = { root: 4, conditionalRoot: 6, nested: 5 };
const leaves = (count: number): Json[] =>
  Array.from({ length: count }, (_, index) => ({ provider: '@a', name: `t${index}` }));
const spread = (targets: Json[]): Json => ({ strategy: { mode: 'loadbalance' }, targets });
const conditional = (count: number): Json => ({
  strategy: {
    mode: 'conditional',
    default: 't0',
    conditions: [when({}, 't0')],
  },
  targets: leaves(count),
});
const nestedIn = (levels: number): Json => (levels === 1 ? { provider: '@a' } : spread([nestedIn(levels - 1)]));

function exceeded(value: Json, within = limits): string | null {
  // Also an oversize config can be saved: the limits are those of the moment in which it is used.
  const parsed = parseConfig(value, 'saved');
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  return exceededTargetLimit(parsed.config, within);
}

describe('the number of targets', () => {
  test.each<[string, Json, string | null]>([
    ['none', { provider: '@a' }, null],
    ['as many as allowed', spread(leaves(4)), null],
    ['one too many', spread(leaves(5)), 'config.targets has 5 targets; a config may have 4'],
    ['conditional: as many as allowed', conditional(6), null],
    ['conditional: one too many', conditional(7), 'config.targets has 7 targets; a conditional config may have 6'],
    ['nested: as many as allowed, of all depths together', spread([spread([spread(leaves(2)), ...leaves(2)])]), null],
    [
      'nested: one too many of all depths together',
      spread([{ provider: '@a' }, spread([spread(leaves(3)), ...leaves(2)])]),
      'config.targets[1] has 6 nested targets; a target may have 5',
    ],
    ['nested: counted for each root target alone', spread([spread(leaves(5)), spread(leaves(5))]), null],
  ])('%s', (_case, config, expected) => {
    expect(exceeded(config)).toBe(expected);
  });

  test('goes ten levels deep', () => {
    const roomy = { root: 100, conditionalRoot: 1_000, nested: 50 };
    expect(exceeded(nestedIn(10), roomy)).toBeNull();
    expect(exceeded(nestedIn(11), roomy)).toBe('the config has 11 levels of targets; 10 are allowed');
  });
});
