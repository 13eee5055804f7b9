/** What samples of semantic hits say of the threshold: how many were right, and from which likeness on they would have been. */

/** The names under which a sample stands in the metadata of its log. */
const agreesName = '_cache_verify';
const similarityName = '_cache_similarity';

type Metadata = Readonly<Record<string, string>>;

export const verifyMetadata = (agrees: boolean, similarity: number): Metadata => ({
  [agreesName]: agrees ? 'agrees' : 'differs',
  [similarityName]: similarity.toFixed(4),
});

/** Finds the samples of one verdict. */
export const samplesThat = (agrees: boolean): Metadata => ({ [agreesName]: agrees ? 'agrees' : 'differs' });

export interface Verification {
  samples: number;
  /** The share of them whose cached answer was right; null without samples. */
  precision: number | null;
  /** The lowest threshold at which the samples would have been right often enough; null where too few were taken. */
  proposed_threshold: number | null;
}

const wantedPrecision = 0.95;
const fewestSamples = 20;

export function verificationOf(agreeing: readonly Metadata[], differing: readonly Metadata[]): Verification {
  const samples = [
    ...agreeing.map((metadata) => ({ similarity: Number(metadata[similarityName]), agrees: true })),
    ...differing.map((metadata) => ({ similarity: Number(metadata[similarityName]), agrees: false })),
  ].filter(({ similarity }) => Number.isFinite(similarity));
  const precision = samples.length === 0 ? null : agreeing.length / (agreeing.length + differing.length);
  return { samples: samples.length, precision, proposed_threshold: proposedThreshold(samples) };
}

function proposedThreshold(samples: { similarity: number; agrees: boolean }[]): number | null {
  if (samples.length < fewestSamples) return null;
  samples.sort((a, b) => b.similarity - a.similarity);
  let right = 0;
  let proposed: number | null = null;
  for (const [at, { similarity, agrees }] of samples.entries()) {
    if (agrees) right += 1;
    // Equal ones stand or fall together.
    if (samples[at + 1]?.similarity === similarity) continue;
    if (right / (at + 1) >= wantedPrecision) proposed = similarity;
  }
  return proposed;
}
