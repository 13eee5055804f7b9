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

/** A histogram: each bucket that counted anything, followed by its count, in rising order. It passes between threads as one block of memory. */
export type Latencies = Uint32Array;

export const noLatencies: Latencies = new Uint32Array(0);

/** The histogram of these pairs of bucket and count. */
export function latenciesFrom(pairs: Iterable<readonly [bucket: number, count: number]>): Latencies {
  const sorted = [...pairs].sort(([a], [b]) => a - b);
  return Uint32Array.from(sorted.flat());
}

/** Percentiles by nearest rank, for levels in rising order; zeros where nothing was counted. */
export function percentiles(latencies: Latencies, levels: readonly number[]): number[] {
  let total = 0;
  for (let at = 1; at < latencies.length; at += 2) total += latencies[at] ?? 0;
  const found: number[] = [];
  let seen = 0;
  let at = -2;
  for (const level of levels) {
    const rank = Math.max(1, Math.ceil((level / 100) * total));
    while (seen < rank && at + 2 < latencies.length) {
      at += 2;
      seen += latencies[at + 1] ?? 0;
    }
    found.push(total === 0 ? 0 : middleOf(latencies[at] ?? 0));
  }
  return found;
}

export function mergeLatencies(parts: readonly Latencies[]): Latencies {
  let buckets = 0;
  for (const part of parts) buckets = Math.max(buckets, 1 + (part.at(-2) ?? -1));
  const counts = new Uint32Array(buckets);
  for (const part of parts) {
    for (let at = 0; at < part.length; at += 2) {
      const bucket = part[at] ?? 0;
      counts[bucket] = (counts[bucket] ?? 0) + (part[at + 1] ?? 0);
    }
  }
  return packed([counts], buckets);
}

/** The histogram of counts that stand by their bucket, in blocks of one size; a block that is absent counted nothing. */
export function packed(blocks: readonly (Uint32Array | undefined)[], blockSize: number): Latencies {
  let used = 0;
  for (const block of blocks) for (const count of block ?? []) if (count > 0) used += 1;
  const latencies = new Uint32Array(2 * used);
  let end = 0;
  for (const [number, block] of blocks.entries()) {
    for (let at = 0; block && at < block.length; at++) {
      const count = block[at] ?? 0;
      if (count === 0) continue;
      latencies[end] = number * blockSize + at;
      latencies[end + 1] = count;
      end += 2;
    }
  }
  return latencies;
}
