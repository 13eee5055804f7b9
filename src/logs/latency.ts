/**
 * A mergeable histogram of response times: whole milliseconds below 1,024 ms, and 512 buckets for each doubling above, so
 * that a percentile is at most 0.1 % away from the true one. Both engines count in these buckets.
 */

const exactBelow = 1_024;
const perDoubling = 512;
const bitsOfExact = 9;
const largest = 2 ** 31 - 1;

export function bucketOf(ms: number): number {
  const whole = Math.min(largest, Math.floor(ms + 0.5));
  if (whole < exactBelow) return whole > 0 ? whole : 0;
  const shift = 31 - Math.clz32(whole) - bitsOfExact;
  return shift * perDoubling + (whole >> shift);
}

/** The middle of the bucket, in ms. */
export function middleOf(bucket: number): number {
  if (bucket < exactBelow) return bucket;
  const shift = Math.floor(bucket / perDoubling) - 1;
  const mantissa = bucket - shift * perDoubling;
  return (mantissa + 0.5) * 2 ** shift;
}

/** Percentiles by nearest rank, for levels in rising order; zeros where nothing was counted. */
export function percentiles(counts: ReadonlyMap<number, number>, levels: readonly number[]): number[] {
  const buckets = [...counts].sort(([a], [b]) => a - b);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  const found: number[] = [];
  let seen = 0;
  let at = -1;
  for (const level of levels) {
    const rank = Math.max(1, Math.ceil((level / 100) * total));
    while (seen < rank && at + 1 < buckets.length) {
      at += 1;
      seen += buckets[at]?.[1] ?? 0;
    }
    found.push(total === 0 ? 0 : middleOf(buckets[at]?.[0] ?? 0));
  }
  return found;
}

export function mergeLatencies(parts: Iterable<ReadonlyMap<number, number>>): Map<number, number> {
  const merged = new Map<number, number>();
  for (const part of parts) for (const [bucket, count] of part) merged.set(bucket, (merged.get(bucket) ?? 0) + count);
  return merged;
}
