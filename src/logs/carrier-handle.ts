/** Starts the carrier's thread, passes orders on, and starts it again should it die. */
import { isExecutable } from '../executable.ts';
import { faultFields, type Log } from '../log.ts';
import type { CarrierOrders, CarrierReport } from './carrier.ts';
import type { Order } from './carrier-thread.ts';

const restartMs = 1_000;
/** A store that hangs must not keep the program from ending; what is left is carried at the next start. */
const stopLimitMs = 5_000;

// Inside the executable a thread's file is found by its path from the root of the project; otherwise it stands beside this
// one, as a source or as a built file, so that it is named without its ending.
const threadFile = isExecutable ? './src/logs/carrier-thread.ts' : new URL('./carrier-thread', import.meta.url).href;

export class CarrierHandle {
  readonly #orders: CarrierOrders;
  readonly #log: Log;
  readonly #onCarried: (segment: string) => void;
  #thread: Worker;
  #restart: ReturnType<typeof setTimeout> | null = null;
  #stopped: () => void = () => undefined;

  constructor(orders: CarrierOrders, log: Log, onCarried: (segment: string) => void) {
    this.#orders = orders;
    this.#log = log;
    this.#onCarried = onCarried;
    this.#thread = this.#launch();
  }

  carry(): void {
    this.#send({ order: 'carry' });
  }

  /** Lets the carrier try once more what is left, then ends its thread. */
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
    const thread = new Worker(threadFile, { name: 'log-carrier', smol: true });
    thread.onmessage = ({ data }: MessageEvent<CarrierReport>) => this.#hear(data);
    thread.onerror = (event) => {
      this.#log.error(`The log carrier died; it starts again in ${restartMs / 1000} s.`, faultFields(event.message));
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

  #hear(report: CarrierReport): void {
    if (report.report === 'carried') this.#onCarried(report.segment);
    else if (report.report === 'trouble') this.#log.warn(report.message, { cause: report.cause });
    else if (report.report === 'recovered') this.#log.info('The log store takes records again.');
    else this.#stopped();
  }
}
