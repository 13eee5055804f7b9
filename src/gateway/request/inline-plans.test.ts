import { expect, test } from 'bun:test';
import { planForProvider } from '../../catalog/compile.ts';
import { InlinePlans } from './inline-plans.ts';

const plan = planForProvider({ from: 'request' });
const config = (name: string): string => `{"override_params":{"user":"${name.padEnd(60_000, 'x')}"}}`;

test('the configs of one organisation push out its own, not those of others', () => {
  const plans = new InlinePlans(16 * 1024 ** 2);
  plans.put(config('theirs'), plan, 'b');
  for (let index = 0; index < 2_000; index++) plans.put(config(`a${index}`), plan, 'a');
  expect(plans.get(config('theirs'))).toBe(plan);
  expect(plans.get(config('a1999'))).toBe(plan);
  expect(plans.get(config('a0'))).toBeUndefined();
  expect(plans.bytes).toBeLessThanOrEqual(8 * 1024 ** 2);
});

test('what all organisations keep is bounded, and whoever holds the most gives way', () => {
  const plans = new InlinePlans(16 * 1024 ** 2, 12 * 1024 ** 2);
  plans.put(config('small'), plan, 'small');
  for (let index = 0; index < 50; index++) {
    plans.put(config(`a${index}`), plan, 'a');
    plans.put(config(`b${index}`), plan, 'b');
  }
  expect(plans.bytes).toBeLessThanOrEqual(16 * 1024 ** 2);
  expect(plans.get(config('small'))).toBe(plan);
});
