/** Costs are kept to nine decimals of a cent, so that sums are the same wherever and in whatever order they are made. */
const scale = 1e9;

export const exactCents = (cents: number): number => {
  const scaled = Math.round(cents * scale);
  // Beyond this a float holds no nine decimals anyway.
  return Number.isSafeInteger(scaled) ? scaled / scale : cents;
};
