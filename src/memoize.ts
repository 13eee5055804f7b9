/** Texts that come again and again are worked out once. */
const mostKept = 2_000;
/** Longer ones seldom come twice, and would fill the memory. */
const longestKept = 1_024;

/** What throws is not kept, and neither is `undefined`. */
export function memoize<T>(work: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const earlier = known.get(text);
    if (earlier !== undefined) return earlier;
    const answer = work(text);
    if (text.length > longestKept) return answer;
    if (known.size >= mostKept) known.clear();
    known.set(text, answer);
    return answer;
  };
}
