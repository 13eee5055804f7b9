/** Asks the thread of the semantic index, for a moment only: a request does not wait for a thread that is busy. It is started when it is first needed, and again should it die. */
import { isExecutable } from '../../executable.ts';
import type { CachePlace, PurgeScope } from '../engine.ts';
import type { IndexOrder, IndexReport } from './index-thread.ts';
import type { Neighbour, SemanticIndex } from './semantic-index.ts';

const threadFile = isExecutable
  ? './src/cache/semantic/index-thread.ts'
  : new URL('./index-thread', import.meta.url).href;

export interface ThreadedIndexOptions {
  mostPerWorkspace: number;
  /** How long a request waits to be told of a neighbour. */
  timeoutMs: number;
  warn(message: string): void;
}

interface Waiting {
  resolve(found: Neighbour | null): void;
  timer: ReturnType<typeof setTimeout>;
}

export class ThreadedIndex implements SemanticIndex {
  readonly #options: ThreadedIndexOptions;
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | null = null;
  #calls = 0;

  constructor(options: ThreadedIndexOptions) {
    this.#options = options;
  }

  nearest(workspaceId: string, partition: string, vector: Float32Array): Promise<Neighbour | null> {
    this.#calls += 1;
    const call = this.#calls;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#told({ call, found: null }), this.#options.timeoutMs);
      this.#waiting.set(call, { resolve, timer });
      this.#send({ order: 'nearest', call, workspaceId, partition, vector });
    });
  }

  add(partition: string, vector: Float32Array, place: CachePlace, ttlSeconds: number): void {
    this.#send({ order: 'add', partition, vector, place, ttlSeconds });
  }

  purge(scope: PurgeScope): void {
    if (this.#thread) this.#send({ order: 'purge', scope });
  }

  async close(): Promise<void> {
    this.#end();
  }

  #send(order: IndexOrder): void {
    this.#thread ??= this.#launch();
    this.#thread.postMessage(order);
  }

  #launch(): Worker {
    const thread = new Worker(threadFile, { name: 'semantic-index', smol: true });
    thread.onmessage = ({ data }: MessageEvent<IndexReport>) => this.#told(data);
    thread.onerror = (event) => {
      this.#options.warn(`The semantic index died and begins anew: ${event.message}`);
      this.#end();
    };
    const open: IndexOrder = { order: 'open', mostPerWorkspace: this.#options.mostPerWorkspace };
    thread.postMessage(open);
    return thread;
  }

  #told({ call, found }: IndexReport): void {
    const waiting = this.#waiting.get(call);
    if (!waiting) return;
    this.#waiting.delete(call);
    clearTimeout(waiting.timer);
    waiting.resolve(found);
  }

  #end(): void {
    this.#thread?.terminate();
    this.#thread = null;
    for (const call of [...this.#waiting.keys()]) this.#told({ call, found: null });
  }
}
