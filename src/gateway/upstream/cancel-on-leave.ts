/** Work that a call begins at its provider: where nobody waits for it any longer, it is ended there, as soon as it is known how. */
import type { Beginning, ProviderCall, RawAnswer } from '../../providers/provider.ts';
import { Abort, type Abortable } from '../../wire/abort.ts';
import type { AttemptContext } from '../attempt/context.ts';
import { unlessGivenUp } from './given-up.ts';
import { GivenUp } from './send.ts';

type Make = (next: ProviderCall, signal: Abortable) => Promise<RawAnswer>;

/** Providers may hold the answer back for a minute, in case that the work is done by then. */
const timeoutMs = 90_000;

/** The answer to the call, which goes on when it is given up: only its answer tells how to end what it began. After `over` nothing is left to end. */
export async function begin(
  call: AttemptContext,
  { begins, endedBy }: Beginning,
  make: Make,
  signal: Abortable,
  over: Abortable,
): Promise<RawAnswer> {
  const own = new Abort();
  const made = make(begins, own.signal);
  const end = async () => {
    const deadline = call.deps.deadlines.set(timeoutMs, () => own.abort());
    try {
      // A call that failed began nothing.
      const answer = await made.catch(() => null);
      const ending = answer && endedBy(answer);
      if (ending) await make(ending, own.signal);
    } catch (cause) {
      const { deps, context, target } = call;
      const message = `work that nobody waits for could not be ended at ${target.provider.id}: it goes on there`;
      deps.onFault(new Error(message, { cause }), context.requestId);
    } finally {
      deadline.clear();
    }
  };
  const left = () => {
    if (!isOver(signal.reason)) void end();
  };
  signal.addEventListener('abort', left);
  over.addEventListener('abort', () => signal.removeEventListener('abort', left));
  if (signal.aborted) left();
  try {
    return await unlessGivenUp(made, signal);
  } catch (fault) {
    throw fault instanceof GivenUp ? fault.error : fault;
  }
}

/** Work that the provider says has failed has come to its end. */
const isOver = (reason: unknown): boolean => reason instanceof GivenUp && reason.error.code === 'upstream_refused';
