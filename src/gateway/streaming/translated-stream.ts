/** Streams of providers with a dialect of their own, in the client's, event by event. */
import { isTooDeep, ProviderFault } from '../../providers/faults.ts';
import type { ServerEvent, StreamTranslator } from '../../providers/provider.ts';
import type { Abort } from '../../wire/abort.ts';
import type { ByteReader, ReadBytes, WireAnswer } from '../../wire/client/answer.ts';
import { GatewayError } from '../errors.ts';
import type { HoldBytes } from '../request/body-budget.ts';
import { saidByProvider, tooDeep } from '../response/translated-answer.ts';
import { concealedError } from '../upstream/conceal.ts';
import { GivenUp } from '../upstream/send.ts';
import type { Upstream } from '../upstream/upstream-request.ts';
import type { EventCutter } from './event-cutter.ts';
import { cutterOf } from './framing.ts';
import { writeEvent } from './sse.ts';

interface TranslatedTerms {
  idleMs: number;
  onFault(fault: unknown): void;
  /** The credentials that went along; asked for only where the provider reports a fault. */
  secrets(): readonly string[];
  /** Counts what waits for the end of an event. */
  hold: HoldBytes;
}

/** A fault that the provider reports breaks the stream, with the provider's status. */
export function translatedStream(
  { body, headers }: WireAnswer,
  { translation, facts, endpoint }: Upstream,
  abort: Abort,
  { idleMs, onFault, secrets, hold }: TranslatedTerms,
): ByteReader {
  const translator = translation?.stream?.(facts);
  if (!translator || !body) {
    throw new GatewayError('invalid_provider_response', 'the provider streams what was not asked to stream');
  }
  const endIsTold = headers.has('transfer-encoding') || headers.has('content-length');
  const passage = new Passage(body, cutterOf(endpoint.framing ?? 'sse', hold), translator, {
    endIsTold,
    quietMs: Math.min(longestQuietMs, idleMs / 4),
  });
  return {
    async read() {
      try {
        return await passage.next();
      } catch (fault) {
        if (fault instanceof ProviderFault) {
          abort.abort(new GivenUp(concealedError(saidByProvider(fault, facts.provider), secrets())));
        }
        if (fault instanceof GatewayError) abort.abort(new GivenUp(fault));
        if (fault instanceof Untranslatable) {
          onFault(fault.cause);
          abort.abort(new GivenUp(new GatewayError('internal_error', 'something went wrong on our side')));
        }
        throw fault;
      }
    },
    cancel: () => passage.cancel(),
  };
}

/** The translator failed where the provider is not to blame: a fault of ours, not of the connection. */
class Untranslatable extends Error {}

function translating(work: () => ServerEvent[]): ServerEvent[] {
  try {
    return work();
  } catch (fault) {
    if (fault instanceof ProviderFault) throw fault;
    throw isTooDeep(fault) ? tooDeep() : new Untranslatable('', { cause: fault });
  }
}

/** Says nothing, and that the provider is at work. */
const signOfLife = Buffer.from(':\n\n');
const longestQuietMs = 5_000;

interface Manner {
  /** Bytes that end where they must not would have been an error. */
  endIsTold: boolean;
  quietMs: number;
}

class Passage {
  readonly #reader: ByteReader;
  readonly #cutter: EventCutter;
  readonly #translator: StreamTranslator;
  readonly #manner: Manner;
  #handedOnAt = performance.now();
  #over = false;
  /** The provider said more than that it is still there, though nothing that this client hears. */
  #worked = false;
  /** Reported behind events that came with it: those go out first. */
  #reported: ProviderFault | null = null;

  constructor(reader: ByteReader, cutter: EventCutter, translator: StreamTranslator, manner: Manner) {
    this.#reader = reader;
    this.#cutter = cutter;
    this.#translator = translator;
    this.#manner = manner;
  }

  /** Until there is something to hand on, or nothing more to read. */
  async next(): Promise<ReadBytes> {
    for (;;) {
      if (this.#reported) throw this.#reported;
      if (this.#over) return { done: true };
      const { value, done } = await this.#reader.read();
      const received = done ? this.#cutter.rest() : this.#cutter.push(value);
      this.#worked ||= received.some(({ event }) => event !== 'ping');
      const events = this.#translated(received);
      this.#over = done && !this.#reported;
      if (this.#over) events.push(...translating(() => this.#translator.end(this.#manner.endIsTold)));
      if (events.length > 0) return this.#handOn(events.map(writeEvent));
      // A model may think for minutes without a word that this client wants to hear; it is not silent for that.
      if (performance.now() - this.#handedOnAt > this.#manner.quietMs) return this.#handOn([signOfLife], this.#worked);
    }
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }

  #handOn(pieces: readonly Uint8Array[], progress = false): ReadBytes {
    this.#handedOnAt = performance.now();
    this.#worked = false;
    return { done: false, value: Buffer.concat(pieces), progress };
  }

  #translated(events: readonly ServerEvent[]): ServerEvent[] {
    const ready: ServerEvent[] = [];
    for (const event of events) {
      try {
        ready.push(...translating(() => this.#translator.event(event)));
      } catch (fault) {
        if (!(fault instanceof ProviderFault) || ready.length === 0) throw fault;
        this.#reported = fault;
        break;
      }
    }
    return ready;
  }
}
