/** The longest answer that a model gives, in tokens: what a call may take that sets no limit of its own. */

/** As their makers publish it; the first that fits counts. */
const families: readonly [pattern: RegExp, tokens: number][] = [
  [/gpt-5[\w.]*-chat/, 16_384],
  [/gpt-5/, 128_000],
  [/gpt-4o-2024-05-13/, 4_096],
  [/gpt-4o|gpt-4\.5/, 16_384],
  [/gpt-4\.1/, 32_768],
  [/gpt-4-(?:turbo|vision|\d{4}-preview)/, 4_096],
  [/gpt-4/, 8_192],
  [/gpt-3\.5/, 4_096],
  [/\bo1-preview/, 32_768],
  [/\bo1-mini/, 65_536],
  [/\bo[134](?:-|$)/, 100_000],
  [/claude-(?:2|instant|3-(?:haiku|opus|sonnet))/, 4_096],
  [/claude-3-5/, 8_192],
  [/claude-opus-4(?:-1)?(?:-\d{8}|@|-v\d|$)/, 32_000],
  [/claude-(?:3-7|(?:opus|sonnet|haiku)-4)/, 64_000],
  [/gemini-(?:1\.5|2\.0)/, 8_192],
  [/gemini-(?:2\.5|3)/, 65_536],
  [/deepseek-chat/, 8_192],
  [/deepseek-reasoner/, 65_536],
  [/command-r/, 4_096],
  [/command-a/, 8_192],
];

/** A model that is not listed is taken to answer with no more than this. */
const unlisted = 32_768;
/** Every model that is not listed takes a limit of this much, or of as much as it was seen to produce. */
const surelyTaken = 4_096;

export interface LongestAnswer {
  tokens: number;
  /** The highest limit that is surely taken, where a limit has to be set. */
  settable(longestSeen: number): number;
}

const memo = new Map<string, LongestAnswer>();
const mostRemembered = 2_000;

export function longestAnswer(model: string): LongestAnswer {
  const known = memo.get(model);
  if (known) return known;
  const name = model.toLowerCase();
  const listed = families.find(([pattern]) => pattern.test(name))?.[1];
  const answer: LongestAnswer =
    listed === undefined
      ? { tokens: unlisted, settable: (longestSeen) => Math.max(surelyTaken, longestSeen) }
      : { tokens: listed, settable: () => listed };
  // The names come from callers.
  if (memo.size >= mostRemembered) memo.clear();
  memo.set(model, answer);
  return answer;
}
