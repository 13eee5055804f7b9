/** Starts the importer's thread, passes orders on, and starts it again should it die. */
import { isExecutable } from '../executable.ts';
import { faultFields, type Log } from '../log.ts';
import type { ImportOrders, ImportReport } from './importer.ts';
import type { Order } from './importer-thread.ts';

const restartMs = 1_000;
/** A store that hangs must not keep the program from ending; what is left is imported at the next start. */
const stopLimitMs = 5_000;

// Inside the executable a thread's file is found by its path from the root of the project; otherwise it stands beside this
// one, as a source or as a built file, so that it is named without its ending.
const threadFile = isExecutable ? './src/logs/importer-thread.ts' : new URL('./importer-thread', import.meta.url).href;

export class ImporterHandle {
  readonly #orders: ImportOrders;
  readonly #log: Log;
  readonly #onImported: (segment: string) => void;
  #thread: Worker;
  #restart: ReturnType<typeof setTimeout> | null = null;
  #stopped: () => void = () => undefined;

  constructor(orders: ImportOrders, log: Log, onImported: (segment: string) => void) {
    this.#orders = orders;
    this.#log = log;
    this.#onImported = onImported;
    this.#thread = this.#launch();
  }

  run(): void {
    this.#send({ order: 'run' });
  }

  /** Lets the importer try once more what is left, then ends its thread. */
  async stop(): Promise<void> {
    if (this.#restart) clearTimeout(this.#restart);
    const ended = new Promise<void>((resolve) => {
      this.#stopped = resolve;
    });
    this.#send({ order: 'stop' });
    let limit: ReturnType<typeof setTimeout> | undefined;
    const waited = new Promise<void>((resolve) => {
      limit = setTimeout(resolve, stopLimitMs);
    });
    await Promise.race([ended, waited]);
    clearTimeout(limit);
    this.#thread.terminate();
  }

  #send(order: Order): void {
    this.#thread.postMessage(order);
  }

  #launch(): Worker {
    const thread = new Worker(threadFile, { name: 'log-importer', smol: true });
    thread.onmessage = ({ data }: MessageEvent<ImportReport>) => this.#hear(data);
    thread.onerror = (event) => {
      this.#log.error(`The log importer died; it starts again in ${restartMs / 1000} s.`, faultFields(event.message));
      thread.terminate();
      this.#stopped();
      this.#restart = setTimeout(() => {
        this.#thread = this.#launch();
      }, restartMs);
    };
    const start: Order = { order: 'start', orders: this.#orders };
    thread.postMessage(start);
    return thread;
  }

  #hear(report: ImportReport): void {
    if (report.report === 'imported') this.#onImported(report.segment);
    else if (report.report === 'trouble') this.#log.warn(report.message, { cause: report.cause });
    else if (report.report === 'recovered') this.#log.info('The log store takes records again.');
    else this.#stopped();
  }
}
