/** Looks for prices that an operator saved since. */
import { lookEveryMs, type PriceFollower } from '../catalog/price-files.ts';
import type { Job } from './runner.ts';

export const createPriceFollower = (prices: PriceFollower): Job => ({
  name: 'prices',
  everyMs: lookEveryMs,
  onEveryNode: true,
  run: () => prices.look(),
});
