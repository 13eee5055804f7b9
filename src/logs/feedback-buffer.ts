/** Feedback that calls themselves give: gathered for a moment, then saved together. While the store does not take it, the newest wait. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { faultFields, type Log } from '../log.ts';
import type { Feedback } from './query.ts';
import { systemTimer, type Timer } from './timer.ts';

const flushMs = 500;
/** While the store is away it is asked ever less often, up to this. */
const longestPauseMs = 30_000;
const mostSaved = 500;
const mostHeld = 20_000;

interface BufferOptions {
  /** Keeps what waits when the program ends. */
  file: string;
  timer?: Timer;
}

export class FeedbackBuffer {
  readonly #save: (feedback: readonly Feedback[]) => Promise<void>;
  readonly #log: Log;
  readonly #file: string;
  readonly #timer: Timer;
  #held: Feedback[] = [];
  #failures = 0;
  #callOff: (() => void) | null = null;
  #saving: Promise<void> | null = null;

  constructor(save: (feedback: readonly Feedback[]) => Promise<void>, log: Log, options: BufferOptions) {
    this.#save = save;
    this.#log = log;
    this.#file = options.file;
    this.#timer = options.timer ?? systemTimer;
    this.add(this.#left());
  }

  add(feedback: readonly Feedback[]): void {
    if (feedback.length === 0) return;
    this.#held.push(...feedback);
    if (this.#held.length > mostHeld) {
      const lost = this.#held.splice(0, this.#held.length - mostHeld).length;
      this.#log.warn('Feedback of guardrails is dropped: the log store does not take it.', { dropped: lost });
    }
    this.#schedule();
  }

  /** Saves what is held, as far as the store takes it; the rest is kept for the next start. */
  async close(): Promise<void> {
    await this.#flush();
    this.#callOff?.();
    this.#callOff = null;
    if (this.#held.length === 0) return;
    try {
      writeFileSync(`${this.#file}.part`, JSON.stringify(this.#held), { mode: 0o600 });
      renameSync(`${this.#file}.part`, this.#file);
    } catch (fault) {
      const lost = { lost: this.#held.length, ...faultFields(fault) };
      this.#log.error('Feedback of guardrails is lost: neither the log store nor the disk takes it.', lost);
    }
  }

  /** What an earlier run could not save. */
  #left(): Feedback[] {
    if (!existsSync(this.#file)) return [];
    try {
      // Only this class writes the file.
      return JSON.parse(readFileSync(this.#file, 'utf8')) as Feedback[];
    } catch (fault) {
      this.#log.warn('Feedback that an earlier run left cannot be read; its file stays.', faultFields(fault));
      return [];
    }
  }

  #schedule(): void {
    const pauseMs = Math.min(longestPauseMs, flushMs * 2 ** this.#failures);
    this.#callOff ??= this.#timer(pauseMs, () => void this.#flush());
  }

  #flush(): Promise<void> {
    this.#saving ??= this.#saveHeld().finally(() => {
      this.#saving = null;
    });
    return this.#saving;
  }

  async #saveHeld(): Promise<void> {
    this.#callOff?.();
    this.#callOff = null;
    while (this.#held.length > 0) {
      const some = this.#held.slice(0, mostSaved);
      try {
        await this.#save(some);
      } catch (fault) {
        this.#failed(fault);
        return;
      }
      const saved = new Set(some);
      this.#held = this.#held.filter((one) => !saved.has(one));
    }
    rmSync(this.#file, { force: true });
    if (this.#failures > 0) this.#log.info('Feedback of guardrails is saved again.');
    this.#failures = 0;
  }

  #failed(fault: unknown): void {
    if (this.#failures === 0) {
      const message = 'Feedback of guardrails cannot be saved; it waits until the log store takes it.';
      this.#log.warn(message, faultFields(fault));
    }
    this.#failures += 1;
    this.#schedule();
  }
}
