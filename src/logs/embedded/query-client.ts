/** Asks the thread of queries, ends what takes too long, and starts the thread again should it hang or die. */
import { isExecutable } from '../../executable.ts';
import { faultFields, type Log } from '../../log.ts';
import type { AggregateQuery, Feedback, ListQuery, LogFilter } from '../query.ts';
import { LogStoreAway, QueryTimeout } from '../query.ts';
import type { OpenQueries } from '../store.ts';
import type { QueryMethod, ThreadOrder, ThreadReport } from './query-thread.ts';
import type { EmbeddedReader } from './reader.ts';

// Inside the executable a thread's file is found by its path from the root of the project; otherwise it stands beside this
// one, as a source or as a built file, so that it is named without its ending.
const threadFile = isExecutable
  ? './src/logs/embedded/query-thread.ts'
  : new URL('./query-thread', import.meta.url).href;

/** More calls than these do not wait at once. */
const places = 1_024;
/** A thread that does not end a cancelled query within this is ended itself. */
const hangMs = 5_000;

interface Pending {
  resolve(answer: unknown): void;
  reject(error: Error): void;
  timer: ReturnType<typeof setTimeout>;
}

export class QueryThread implements OpenQueries {
  readonly #folder: string;
  readonly #timeoutMs: number;
  readonly #log: Log;
  readonly #pending = new Map<number, Pending>();
  readonly #cancelled = new Int32Array(new SharedArrayBuffer(4 * places));
  #thread: Worker | null = null;
  #calls = 0;
  #hang: ReturnType<typeof setTimeout> | null = null;

  constructor(folder: string, timeoutMs: number, log: Log) {
    this.#folder = folder;
    this.#timeoutMs = timeoutMs;
    this.#log = log;
  }

  find = (id: string) => this.#ask('find', id);
  list = (query: ListQuery) => this.#ask('list', query);
  aggregate = (query: AggregateQuery) => this.#ask('aggregate', query);
  values = (filter: LogFilter) => this.#ask('values', filter);
  traces = (filter: LogFilter) => this.#ask('traces', filter);
  saveFeedback = (feedback: readonly Feedback[]) => this.#ask('saveFeedback', feedback);
  findFeedback = (id: string) => this.#ask('findFeedback', id);
  feedbackOnTrace = (workspaceId: string, traceId: string) => this.#ask('feedbackOnTrace', workspaceId, traceId);
  feedback = (filter: LogFilter) => this.#ask('feedback', filter);

  async close(): Promise<void> {
    if (!this.#thread) return;
    const closed = new Promise<unknown>((resolve, reject) => {
      this.#pending.set(0, { resolve, reject, timer: setTimeout(resolve, hangMs, null) });
    });
    this.#send({ order: 'close' });
    await closed;
    this.#end(new Error('The log store is closed'));
  }

  #ask<M extends QueryMethod>(
    method: M,
    ...input: Parameters<EmbeddedReader[M]>
  ): Promise<ReturnType<EmbeddedReader[M]>> {
    if (this.#pending.size >= places) return Promise.reject(new QueryTimeout(this.#timeoutMs));
    this.#calls += 1;
    const call = this.#calls;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#cancel(call), this.#timeoutMs);
      // The thread answers what the reader's own types say.
      this.#pending.set(call, { resolve: resolve as (answer: unknown) => void, reject, timer });
      this.#send({ order: 'ask', call, method, input });
    });
  }

  #send(order: ThreadOrder): void {
    this.#thread ??= this.#launch();
    this.#thread.postMessage(order);
  }

  #cancel(call: number): void {
    Atomics.store(this.#cancelled, call % places, call);
    this.#pending.get(call)?.reject(new QueryTimeout(this.#timeoutMs));
    this.#pending.delete(call);
    this.#hang ??= setTimeout(() => {
      this.#log.warn('The thread of log queries hangs and is ended; the next query starts another.');
      this.#end(new QueryTimeout(this.#timeoutMs));
    }, hangMs);
  }

  #launch(): Worker {
    const thread = new Worker(threadFile, { name: 'log-queries', smol: true });
    thread.onmessage = ({ data }: MessageEvent<ThreadReport>) => this.#hear(data);
    thread.onerror = (event) => {
      this.#log.error('The thread of log queries died; the next query starts another.', faultFields(event.message));
      this.#end(new LogStoreAway('The log store failed'));
    };
    const open: ThreadOrder = { order: 'open', folder: this.#folder, cancelled: this.#cancelled.buffer };
    thread.postMessage(open);
    return thread;
  }

  #hear(report: ThreadReport): void {
    // Whatever it says, it does not hang.
    if (this.#hang) clearTimeout(this.#hang);
    this.#hang = null;
    const pending = this.#pending.get(report.call);
    if (!pending) return;
    this.#pending.delete(report.call);
    clearTimeout(pending.timer);
    if (report.outcome === 'answered') pending.resolve(report.answer);
    else pending.reject(new Error(report.cause));
  }

  #end(error: Error): void {
    if (this.#hang) clearTimeout(this.#hang);
    this.#hang = null;
    this.#thread?.terminate();
    this.#thread = null;
    for (const { reject, timer } of this.#pending.values()) {
      clearTimeout(timer);
      reject(error);
    }
    this.#pending.clear();
  }
}
