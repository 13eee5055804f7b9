/** How alike two vectors are, from -1 to 1; 0 for vectors that cannot be compared. */
export function cosine(one: Float32Array, other: Float32Array): number {
  if (one.length !== other.length) return 0;
  let product = 0;
  let first = 0;
  let second = 0;
  for (let at = 0; at < one.length; at++) {
    const [a = 0, b = 0] = [one[at], other[at]];
    product += a * b;
    first += a * a;
    second += b * b;
  }
  return first === 0 || second === 0 ? 0 : product / Math.sqrt(first * second);
}
