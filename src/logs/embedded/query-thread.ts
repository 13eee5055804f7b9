/** The reader of the embedded log store in a thread of its own, so that a query never holds up a request. */
import { setPriority } from 'node:os';
import { EmbeddedReader } from './reader.ts';

/** What a reader can be asked. */
export type QueryMethod = Exclude<keyof EmbeddedReader, 'close'>;

export type ThreadOrder =
  | { order: 'open'; folder: string; cancelled: SharedArrayBuffer }
  | { order: 'ask'; call: number; method: QueryMethod; input: unknown[] }
  | { order: 'close' };

export type ThreadReport =
  | { call: number; outcome: 'answered'; answer: unknown }
  | { call: number; outcome: 'failed'; cause: string };

/** About a third of the weight of a thread that serves calls. */
const niceness = 5;

declare const self: Worker;

let reader: EmbeddedReader | null = null;
let cancelled: Int32Array = new Int32Array(1);
let current = 0;

/** A call is cancelled by its number in the place that it shares with every so many others. */
function checkpoint(): void {
  if (Atomics.load(cancelled, current % cancelled.length) === current) throw new Error('The query was cancelled');
}

function answer(call: number, method: QueryMethod, input: unknown[]): ThreadReport {
  current = call;
  try {
    checkpoint();
    if (!reader) throw new Error('The log store is not open');
    // The other side of the channel has typed both.
    const ask = reader[method].bind(reader) as (...input: unknown[]) => unknown;
    return { call, outcome: 'answered', answer: ask(...input) };
  } catch (error) {
    return { call, outcome: 'failed', cause: String(error) };
  }
}

/** Where processors are scarce, calls come before queries: Linux takes the priority for this thread alone, others for the whole process. */
function yieldToCalls(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, niceness);
  } catch {
    // A sandbox may forbid it; queries then share alike.
  }
}

self.onmessage = ({ data }: MessageEvent<ThreadOrder>) => {
  if (data.order === 'open') {
    yieldToCalls();
    cancelled = new Int32Array(data.cancelled);
    reader = new EmbeddedReader(data.folder, checkpoint);
  } else if (data.order === 'ask') {
    self.postMessage(answer(data.call, data.method, data.input));
  } else {
    reader?.close();
    self.postMessage({ call: 0, outcome: 'answered', answer: null } satisfies ThreadReport);
  }
};
