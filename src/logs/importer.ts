/** Imports finished segments into the log store and deletes them. While the store fails they wait where they are. */

import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Retention } from './embedded/files.ts';
import { type BodyObjects, type Engine, openWriter } from './engine.ts';
import { SegmentFile } from './segment-file.ts';
import type { LogWriter } from './store.ts';
import { systemTimer, type Timer } from './timer.ts';

export interface Breaker {
  /** After so many failures in a row the store is left alone for a while. */
  failureThreshold: number;
  backoffMs: number;
  /** How long the store may keep us waiting. */
  timeoutMs: number;
}

export interface ImportOrders {
  /** The spool. */
  folder: string;
  engine: Engine;
  objects: BodyObjects | null;
  breaker: Breaker;
  retention: Retention;
}

export type ImportReport =
  | { report: 'imported'; segment: string }
  | { report: 'trouble'; message: string; cause: string }
  | { report: 'recovered' }
  | { report: 'stopped' };

export const readySuffix = '.ready';
const rejectedSuffix = '.rejected';
const damagedSuffix = '.damaged';
const retryMs = 1_000;
const purgeEveryMs = 24 * 3_600_000;

export class LogImporter {
  readonly #orders: ImportOrders;
  readonly #tell: (report: ImportReport) => void;
  readonly #timer: Timer;
  readonly #file = new SegmentFile();
  #writer: LogWriter | null = null;
  #failures = 0;
  #running: Promise<void> | null = null;
  #again = false;
  #nextPurge = 0;
  /** Without traffic nothing else would make old records go. */
  readonly #daily = setInterval(() => this.run(), purgeEveryMs);
  #stopping = false;
  #wake: () => void = () => undefined;

  constructor(orders: ImportOrders, tell: (report: ImportReport) => void, timer: Timer = systemTimer) {
    this.#orders = orders;
    this.#tell = tell;
    this.#timer = timer;
  }

  /** Imports all that is ready; a call while one runs makes it look again. */
  run(): void {
    this.#again = true;
    this.#running ??= this.#importAll().finally(() => {
      this.#running = null;
    });
  }

  /** Tries once more what is left and ends. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#daily);
    this.#wake();
    this.run();
    await this.#running;
    await this.#writer?.close();
    this.#tell({ report: 'stopped' });
  }

  /** Deletes what is older than the retention allows. Imports go on meanwhile: an object store may have much to delete. */
  async #purgeWhenDue(): Promise<void> {
    if (Date.now() < this.#nextPurge || this.#stopping) return;
    this.#nextPurge = Date.now() + purgeEveryMs;
    const failed = (error: unknown) => {
      const message = `Old log records could not be deleted; the next attempt is in ${purgeEveryMs / 3_600_000} h.`;
      this.#tell({ report: 'trouble', message, cause: String(error) });
    };
    try {
      const writer = await this.#openWriter();
      void writer.purge(Date.now(), this.#orders.retention).catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  async #openWriter(): Promise<LogWriter> {
    const { engine, breaker, retention, objects } = this.#orders;
    this.#writer ??= await openWriter(engine, breaker.timeoutMs, retention, objects);
    return this.#writer;
  }

  async #importAll(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      for (const segment of this.#ready()) {
        while (!(await this.#attempt(segment))) {
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
  async #attempt(segment: string): Promise<boolean> {
    const path = join(this.#orders.folder, segment);
    try {
      const writer = await this.#openWriter();
      const read = this.#file.read(path, (frames) => writer.write(frames, segment));
      await read?.taken;
      // Where it is gone, another process has imported it meanwhile.
      if (read?.damaged) this.#setAside(path);
      else if (read) rmSync(path, { force: true });
    } catch (error) {
      if (isFault(error)) {
        await this.#failed(error);
        return false;
      }
      this.#reject(path, error);
    }
    if (this.#failures > 0) this.#tell({ report: 'recovered' });
    this.#failures = 0;
    this.#tell({ report: 'imported', segment });
    return true;
  }

  async #failed(error: unknown): Promise<void> {
    this.#failures += 1;
    // What is wrong may be the connection itself: the next attempt opens another.
    const broken = this.#writer;
    this.#writer = null;
    await broken?.close();
    if (this.#failures > 1 && !this.#isOpen) return;
    const next = this.#stopping ? 'at the next start' : `in ${this.#pauseMs / 1000} s`;
    this.#tell({
      report: 'trouble',
      message: `The log store takes no records; the spool keeps them and the next attempt is ${next}.`,
      cause: String(error),
    });
  }

  /** What could be read of a damaged segment is stored; the file stays for whoever wants to look. */
  #setAside(path: string): void {
    renameSync(path, path + damagedSuffix);
    const message = `A segment is damaged; what can be read of it was stored, and it was set aside as ${path}${damagedSuffix}.`;
    this.#tell({ report: 'trouble', message, cause: 'a check sum does not fit' });
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
      const callOff = this.#timer(this.#pauseMs, resolve);
      this.#wake = () => {
        callOff();
        resolve();
      };
    });
  }
}

/** A fault of the store or of the disk, which may pass: both carry a code. */
const isFault = (error: unknown): error is Error & { code: unknown } => error instanceof Error && 'code' in error;
