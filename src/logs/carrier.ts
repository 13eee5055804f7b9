/** Carries finished segments into the log store and deletes them. While the store fails they wait where they are. */

import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SegmentFile } from './segment-file.ts';
import { LogWriter, type Retention } from './store.ts';

export interface Breaker {
  /** After so many failures in a row the store is left alone for a while. */
  failureThreshold: number;
  backoffMs: number;
  /** How long the store may keep us waiting. */
  timeoutMs: number;
}

export interface CarrierOrders {
  folder: string;
  file: string;
  breaker: Breaker;
  retention: Retention;
}

export type CarrierReport =
  | { report: 'carried'; segment: string }
  | { report: 'trouble'; message: string; cause: string }
  | { report: 'recovered' }
  | { report: 'stopped' };

export const readySuffix = '.ready';
const rejectedSuffix = '.rejected';
const retryMs = 1_000;
const purgeEveryMs = 24 * 3_600_000;

export class Carrier {
  readonly #orders: CarrierOrders;
  readonly #tell: (report: CarrierReport) => void;
  readonly #file = new SegmentFile();
  #writer: LogWriter | null = null;
  #failures = 0;
  #run: Promise<void> | null = null;
  #again = false;
  #nextPurge = 0;
  /** Without traffic nothing else would make old records go. */
  readonly #daily = setInterval(() => this.carry(), purgeEveryMs);
  #stopping = false;
  #wake: () => void = () => undefined;

  constructor(orders: CarrierOrders, tell: (report: CarrierReport) => void) {
    this.#orders = orders;
    this.#tell = tell;
  }

  /** Carries all that is ready; a call while one runs makes it look again. */
  carry(): void {
    this.#again = true;
    this.#run ??= this.#carryAll().finally(() => {
      this.#run = null;
    });
  }

  /** Tries once more what is left and ends. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#daily);
    this.#wake();
    this.carry();
    await this.#run;
    this.#writer?.close();
    this.#tell({ report: 'stopped' });
  }

  /** Deletes what is older than the retention allows, a little at a time, so that segments are not kept waiting. */
  async #purgeWhenDue(): Promise<void> {
    if (Date.now() < this.#nextPurge || this.#stopping) return;
    this.#nextPurge = Date.now() + purgeEveryMs;
    try {
      const writer = this.#openWriter();
      while (writer.purge(Date.now(), this.#orders.retention) && !this.#stopping) await Bun.sleep(0);
    } catch (error) {
      const message = `Old log records could not be deleted; the next attempt is in ${purgeEveryMs / 3_600_000} h.`;
      this.#tell({ report: 'trouble', message, cause: String(error) });
    }
  }

  #openWriter(): LogWriter {
    this.#writer ??= new LogWriter(this.#orders.file, this.#orders.breaker.timeoutMs);
    return this.#writer;
  }

  async #carryAll(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      for (const segment of this.#ready()) {
        while (!this.#attempt(segment)) {
          if (this.#stopping) return;
          await this.#pause();
        }
        // Between two segments orders are heard.
        await Bun.sleep(0);
      }
      await this.#purgeWhenDue();
    }
  }

  #ready(): string[] {
    try {
      return readdirSync(this.#orders.folder)
        .filter((name) => name.endsWith(readySuffix))
        .sort();
    } catch (error) {
      this.#tell({ report: 'trouble', message: 'The spool folder cannot be read.', cause: String(error) });
      return [];
    }
  }

  /** True when the segment needs no further attempt. */
  #attempt(segment: string): boolean {
    const path = join(this.#orders.folder, segment);
    try {
      // Another process may have carried it meanwhile.
      if (this.#file.read(path, (frames) => this.#openWriter().write(frames))) rmSync(path, { force: true });
    } catch (error) {
      if (isFault(error)) {
        this.#failed(error);
        return false;
      }
      this.#reject(path, error);
    }
    if (this.#failures > 0) this.#tell({ report: 'recovered' });
    this.#failures = 0;
    this.#tell({ report: 'carried', segment });
    return true;
  }

  #failed(error: unknown): void {
    this.#failures += 1;
    // What is wrong may be the connection itself: the next attempt opens another.
    this.#writer?.close();
    this.#writer = null;
    if (this.#failures > 1 && !this.#isOpen) return;
    const next = this.#stopping ? 'at the next start' : `in ${this.#pauseMs / 1000} s`;
    this.#tell({
      report: 'trouble',
      message: `The log store takes no records; the spool keeps them and the next attempt is ${next}.`,
      cause: String(error),
    });
  }

  /** A segment that is whole and yet makes no sense would stand in the way of all others for ever. */
  #reject(path: string, error: unknown): void {
    renameSync(path, path + rejectedSuffix);
    const message = `A segment cannot be stored and was set aside as ${path}${rejectedSuffix}.`;
    this.#tell({ report: 'trouble', message, cause: String(error) });
  }

  get #isOpen(): boolean {
    return this.#failures >= this.#orders.breaker.failureThreshold;
  }

  get #pauseMs(): number {
    const { backoffMs } = this.#orders.breaker;
    return this.#isOpen ? backoffMs : Math.min(retryMs, backoffMs);
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#pauseMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** A fault of the store or of the disk, which may pass: both carry a code. */
const isFault = (error: unknown): error is Error & { code: unknown } => error instanceof Error && 'code' in error;
