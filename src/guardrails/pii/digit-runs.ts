/** Runs of digits that a separator joins to one another, as numbers are written in groups. Few are held at a time: a text may have hundreds of thousands. */

export const space = 32;
export const hyphen = 45;
export const dot = 46;
export const opening = 40;
export const closing = 41;
/** Nothing joins the run to a next one. */
export const unjoined = 0;

/** Nothing is written in more groups than this. */
export const mostGroups = 7;
const mostHeld = 256;
/** So many fit into 32 bits. */
export const exactDigits = 9;
/** No number that means something has more digits. */
const longestNumber = 20;

export class DigitRuns {
  readonly text: string;
  count = 0;
  readonly #starts = new Int32Array(mostHeld);
  readonly #ends = new Int32Array(mostHeld);
  readonly #joins = new Int32Array(mostHeld);
  /** The code units around it and its first digit: reading them from the text again costs more than all else. */
  readonly #befores = new Int32Array(mostHeld);
  readonly #afters = new Int32Array(mostHeld);
  readonly #firsts = new Int32Array(mostHeld);
  readonly #values = new Int32Array(mostHeld);
  /** The sums of the check digit of cards: with the last digit as it is, and with it doubled. */
  readonly #plainSums = new Int32Array(mostHeld);
  readonly #doubledSums = new Int32Array(mostHeld);
  /** 1 where all digits are the same. */
  readonly #uniform = new Int32Array(mostHeld);

  constructor(text: string) {
    this.text = text;
  }

  add(text: string, start: number, end: number): number {
    const join = joinAt(text, end);
    const at = this.count;
    this.#starts[at] = start;
    this.#ends[at] = end;
    this.#joins[at] = join;
    this.#befores[at] = start === 0 ? 0 : text.charCodeAt(start - 1);
    this.#afters[at] = end === text.length ? 0 : text.charCodeAt(end);
    this.#measure(text, start, end, at);
    this.count = at + 1;
    return join;
  }

  /** In one pass over its digits, since cards and others ask for them again and again. */
  #measure(text: string, start: number, end: number, at: number): void {
    const first = text.charCodeAt(start) - zero;
    const last = Math.min(end, start + longestNumber);
    let value = 0;
    let evenDoubled = 0;
    let oddDoubled = 0;
    let isUniform = 1;
    for (let place = start; place < last; place++) {
      const digit = text.charCodeAt(place) - zero;
      if (place - start < exactDigits) value = value * 10 + digit;
      if (digit !== first) isUniform = 0;
      const doubled = digit > 4 ? digit * 2 - 9 : digit * 2;
      const isEven = ((place - start) & 1) === 0;
      evenDoubled += isEven ? doubled : digit;
      oddDoubled += isEven ? digit : doubled;
    }
    const endsEven = ((end - start) & 1) === 0;
    this.#firsts[at] = first;
    this.#values[at] = value;
    this.#plainSums[at] = endsEven ? evenDoubled : oddDoubled;
    this.#doubledSums[at] = endsEven ? oddDoubled : evenDoubled;
    this.#uniform[at] = isUniform;
  }

  get isFull(): boolean {
    return this.count === mostHeld;
  }

  /** Forgets the first ones. */
  drop(runs: number): void {
    if (runs < this.count) {
      this.#starts.copyWithin(0, runs, this.count);
      this.#ends.copyWithin(0, runs, this.count);
      this.#joins.copyWithin(0, runs, this.count);
      this.#befores.copyWithin(0, runs, this.count);
      this.#afters.copyWithin(0, runs, this.count);
      this.#firsts.copyWithin(0, runs, this.count);
      this.#values.copyWithin(0, runs, this.count);
      this.#plainSums.copyWithin(0, runs, this.count);
      this.#doubledSums.copyWithin(0, runs, this.count);
      this.#uniform.copyWithin(0, runs, this.count);
    }
    this.count -= runs;
  }

  start(run: number): number {
    return this.#starts[run] ?? 0;
  }

  end(run: number): number {
    return this.#ends[run] ?? 0;
  }

  /** How many digits it has; 0 where there is no such run. */
  size(run: number): number {
    return run < this.count ? this.end(run) - this.start(run) : 0;
  }

  /** The separator behind it. */
  join(run: number): number {
    return run < this.count ? (this.#joins[run] ?? unjoined) : unjoined;
  }

  firstDigit(run: number): number {
    return this.#firsts[run] ?? 0;
  }

  /** The sum of its digits by Luhn's formula. */
  luhnSum(run: number, isLastDoubled: boolean): number {
    return (isLastDoubled ? this.#doubledSums[run] : this.#plainSums[run]) ?? 0;
  }

  isUniform(run: number): boolean {
    return this.#uniform[run] === 1;
  }

  /** The number that the digits make, of a run of at most nine; of a longer one, its first nine. */
  value(run: number): number {
    return this.#values[run] ?? 0;
  }

  /** The code unit that stands before it; 0 at the beginning of the text. */
  before(run: number): number {
    return this.#befores[run] ?? 0;
  }

  /** `1a` and `1_` are no numbers. */
  isFollowedByWord(run: number): boolean {
    return isWord(this.#afters[run] ?? 0);
  }

  /** Neither are `a1` and `_1`. */
  isPartOfWord(run: number): boolean {
    return isWord(this.before(run));
  }
}

const zero = 48;

export const isDigit = (code: number): boolean => code >= zero && code <= 57;

const isWord = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;

/** What joins a run that ends here to a next one: a single separator, or a bracket with a space. */
export function joinAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code !== space && code !== hyphen && code !== dot && code !== opening && code !== closing) return unjoined;
  const behind = text.charCodeAt(at + 1);
  if (isDigit(behind)) return code;
  const isSpaced = (behind === space || behind === hyphen) && isDigit(text.charCodeAt(at + 2));
  if (code === closing) return isSpaced ? closing : unjoined;
  // The area code of a number that begins with the country.
  const opens = code !== dot && code !== opening && behind === opening && isDigit(text.charCodeAt(at + 2));
  return opens ? opening : unjoined;
}
