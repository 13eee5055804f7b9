/** Whether the claims of a token say what a rule asks for. */
import type { ClaimRule } from '../catalog/mcp/settings.ts';
import { memoize } from '../memoize.ts';
import { compilePattern } from '../patterns/pattern.ts';
import type { Claims } from './principal.ts';

export function meets(claims: Claims, rules: Readonly<Record<string, ClaimRule>>): boolean {
  return Object.entries(rules).every(([name, rule]) => claimMeets(claims[name], rule));
}

function claimMeets(claim: unknown, { values, matchType }: ClaimRule): boolean {
  if (claim === undefined || claim === null) return false;
  const held = (Array.isArray(claim) ? claim : [claim]).map(String);
  if (matchType === 'exact') return held.some((one) => values.includes(one));
  if (matchType === 'contains')
    return held.some((one) => values.some((value) => one.split(/[\s,]+/).includes(value) || one.includes(value)));
  if (matchType === 'containsAll') {
    const words = held.flatMap((one) => one.split(/[\s,]+/));
    return values.every((value) => words.includes(value) || held.includes(value));
  }
  return values.some((value) => held.some((one) => patternOf(value)(one.slice(0, longestClaim))));
}

const longestClaim = 4_096;

/** Written by tenants, so that it is matched in linear time; one that cannot be used matches nothing. */
const patternOf = memoize((source): ((text: string) => boolean) => {
  const compiled = compilePattern(source, { instructions: 2_000 });
  if ('fault' in compiled) return () => false;
  return (text) => compiled.pattern.test(text, { steps: 5_000_000 });
});
