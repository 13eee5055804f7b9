/** Gemini's Live API behind OpenAI's realtime events. */
import { RequestFault } from '../../faults.ts';
import { Fields } from '../../fields.ts';
import { isObject, objectOf, parsed, textOf } from '../../json.ts';
import type { CallFacts, RealtimeTranslator, Relayed, SessionEnd } from '../../provider.ts';
import { hearClient } from './client-events.ts';
import { closeError, errorOf } from './errors.ts';
import { hearProvider } from './server-events.ts';
import type { LivePlace } from './setup.ts';
import { Talk } from './talk.ts';

export const geminiLive =
  (placeOf: (facts: CallFacts) => LivePlace) =>
  (facts: CallFacts): RealtimeTranslator =>
    new LiveTranslator(new Talk(facts, placeOf(facts)));

/** The model is said once, in the setup: there must be one. */
export function requireModel({ model }: CallFacts): void {
  if (model === '') throw new RequestFault('model', 'model is missing: add it to the query');
}

class LiveTranslator implements RealtimeTranslator {
  readonly #talk: Talk;

  constructor(talk: Talk) {
    this.#talk = talk;
  }

  get held(): number {
    return this.#talk.outbox.held;
  }

  opened(): Relayed {
    this.#talk.describe('session.created');
    return this.#talk.outbox.take();
  }

  fromClient(text: string | null): Relayed {
    const event = text === null ? undefined : parsed(text);
    const { outbox } = this.#talk;
    try {
      if (!isObject(event)) throw new RequestFault('event', 'an event must be a JSON object in a text frame');
      hearClient(this.#talk, new Fields(event));
    } catch (fault) {
      const error = errorOf(fault, textOf(objectOf(event).event_id));
      if (!error) throw fault;
      outbox.tell('error', error);
    }
    return outbox.take();
  }

  fromProvider(text: string): Relayed {
    hearProvider(this.#talk, objectOf(parsed(text)));
    return this.#talk.outbox.take();
  }

  closed({ code, reason, by }: SessionEnd): readonly string[] {
    const { response, outbox } = this.#talk;
    const left = by === 'client';
    if (response) {
      const details = left
        ? { reason: 'client_cancelled' }
        : { error: { type: 'server_error', code: 'session_closed' } };
      this.#talk.finish({ status: left ? 'cancelled' : 'failed', details });
    }
    if (!left && !normalCodes.has(code)) outbox.tell('error', closeError(code, reason));
    return outbox.take().toClient;
  }
}

/** As it should end: with a word, or without one. */
const normalCodes = new Set([1000, 1005]);
