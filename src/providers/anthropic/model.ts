/** What a model of Anthropic's can do, told by its name: the generations differ in how they think and in what they refuse. */
import { memoize } from '../../memoize.ts';

export interface ModelTraits {
  /** How thinking is asked for: not at all, with a budget of tokens, adaptively or by budget, or only adaptively. */
  thinking: 'none' | 'budget' | 'adaptive' | 'adaptive-only';
  /** Thinks whether asked or not. */
  alwaysThinks: boolean;
  /** The efforts that it knows besides `low`, `medium` and `high`. */
  efforts: readonly string[];
  /** Takes temperature and its like. */
  samples: boolean;
  /** Takes a schema for its answer and for the arguments of its tools. */
  structured: boolean;
  /** What it may write where the client sets no limit. */
  defaultLimit: number;
  /** The most that it can write. */
  longest: number;
}

/** Major and minor number as one: 4.5 is 405. */
interface Version {
  line: string;
  number: number;
}

/** Names put the version before the line (`claude-3-7-sonnet-20250219`) or behind it (`claude-sonnet-4-5@20250929`); a date is no version. */
const older = /claude-(\d)(?:[-.](\d{1,2}))?-(opus|sonnet|haiku)/;
const newer = /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/;
const oldest = /claude-(?:instant|v?[12](?!\d))/;

/** A name that tells nothing, such as that of a deployment, is taken for one of the newest. */
const newest: Version = { line: '', number: 9_900 };

function versionOf(name: string): Version {
  const model = name.toLowerCase();
  const early = older.exec(model);
  if (early) return { line: early[3] ?? '', number: Number(early[1]) * 100 + Number(early[2] ?? 0) };
  if (oldest.test(model)) return { line: 'claude', number: 200 };
  const late = newer.exec(model);
  return late ? { line: late[1] ?? '', number: Number(late[2]) * 100 + Number(late[3] ?? 0) } : newest;
}

export const traitsOf = memoize((model): ModelTraits => {
  const { line, number } = versionOf(model);
  const isOpus = line === 'opus';
  const adaptiveOnly = number >= 500 || (isOpus && number >= 407);
  return {
    thinking: adaptiveOnly ? 'adaptive-only' : number >= 406 ? 'adaptive' : number >= 307 ? 'budget' : 'none',
    alwaysThinks: line === 'fable' || line === 'mythos' || (isOpus && number >= 505),
    efforts: adaptiveOnly ? ['xhigh', 'max'] : number >= 406 ? ['max'] : [],
    samples: !adaptiveOnly,
    structured: number >= 405 || (isOpus && number >= 401),
    defaultLimit: number >= 307 ? 32_000 : number >= 305 ? 8_192 : 4_096,
    longest: isOpus && number >= 400 && number < 405 ? 32_000 : 64_000,
  };
});
