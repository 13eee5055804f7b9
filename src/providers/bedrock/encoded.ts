/** Ids that are addresses travel encoded, once or twice. */

/** As it is where it is not encoded. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
