/** A check on a stream: it reads text as it arrives and says how much of it is decided. */

/** A place that a check objects to. */
export interface Finding {
  start: number;
  end: number;
  /** What stands there instead; null where the check only objects. */
  text: string | null;
}

export interface TextScanner {
  /** It replaces what it finds; otherwise what it finds is refused. */
  readonly replaces?: boolean;
  /** Reads on in the text that is held; everything before `settled` is decided, and `found` says what is wrong with it. */
  read(held: string, final: boolean): { found: readonly Finding[]; settled: number };
  /** That many characters at the front were let go. */
  drop(characters: number): void;
}
