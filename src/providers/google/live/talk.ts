/** One session: what was settled, what is held, and what is under way. */
import { RequestFault } from '../../faults.ts';
import type { CallFacts, JsonObject } from '../../provider.ts';
import { EventFault } from './errors.ts';
import { Hearing } from './hearing.ts';
import { HeldItems } from './held-items.ts';
import { canBeTyped, typed } from './items.ts';
import { LiveOutbox } from './outbox.ts';
import { type LiveOutcome, LiveResponse } from './response.ts';
import { takesTurns } from './rules.ts';
import { defaultLiveSettings, type LiveSettings } from './settings.ts';
import { type LivePlace, sessionOf, setupOf } from './setup.ts';
import { Thread } from './thread.ts';
import { UsageCount } from './usage.ts';

export class Talk {
  readonly outbox: LiveOutbox;
  readonly thread: Thread;
  readonly hearing: Hearing;
  readonly held = new HeldItems();
  readonly usage = new UsageCount();
  /** Functions that the model waits for, by the id of the call: the name, and whether the provider gave the id. */
  readonly calls = new Map<string, { name: string; given: boolean }>();
  readonly model: string;
  /** The names that the client may know the model by. */
  readonly models: readonly string[];
  readonly newId: (prefix: string) => string;
  readonly #place: LivePlace;
  readonly #id: string;
  settings: LiveSettings = defaultLiveSettings;
  response: LiveResponse | null = null;
  /** The turn in which a function was called may still be ended. */
  called = false;
  /** What system messages said before the conversation began. */
  system: readonly string[] = [];
  /** Nothing of the settings can be taken back any more. */
  begun = false;

  constructor({ model, body, newId }: CallFacts, place: LivePlace) {
    this.model = model;
    this.models = typeof body.model === 'string' ? [model, body.model] : [model];
    this.newId = newId;
    this.#place = place;
    this.#id = newId('sess_');
    this.outbox = new LiveOutbox(newId);
    this.thread = new Thread(this.outbox);
    this.hearing = new Hearing(this.outbox, this.thread, newId);
  }

  describe(type: 'session.created' | 'session.updated'): void {
    this.outbox.tell(type, { session: sessionOf(this.settings, this.model, this.#id) });
  }

  /** The setup is said once, so it waits until there is something to say after it. */
  begin(answer: boolean): void {
    if (this.begun) return;
    this.begun = true;
    const { settings, model, held } = this;
    const history = this.#history(answer);
    this.system = held.takeSystem();
    const seeded = history.length > 0;
    this.outbox.setUp(setupOf({ settings, model, place: this.#place, system: this.system, seeded }));
    if (seeded) this.outbox.ask({ clientContent: { turns: history, turnComplete: true } });
  }

  #history(answer: boolean): JsonObject[] {
    if (takesTurns(this.model)) return [];
    return (answer ? this.held.takeHistory() : this.held.takeTurns()).map((turn) => ({ ...turn }));
  }

  /** Tells the turns that are held. Without `answer`, more is to come. */
  tellTurns(answer: boolean): void {
    const turns = this.held.takeTurns();
    if (!this.takesTurnsNow) {
      for (const message of typed(turns)) this.outbox.ask(message);
    } else if (answer || turns.length > 0) {
      this.outbox.ask({ clientContent: { ...(turns.length > 0 && { turns }), turnComplete: answer } });
    }
  }

  /** While the user speaks, a turn would cut the speech off. */
  get takesTurnsNow(): boolean {
    return takesTurns(this.model) && !this.hearing.active;
  }

  /** Asks for a response to everything that was said. */
  answer(metadata: JsonObject | null): void {
    this.#requireAnswerable();
    this.begin(true);
    const { hearing, held } = this;
    if (held.results.length > 0) {
      this.outbox.ask({ toolResponse: { functionResponses: held.takeResults() } });
    } else if (hearing.active) {
      this.tellTurns(false);
      this.outbox.ask({ realtimeInput: { activityEnd: {} } });
      hearing.active = false;
    } else if (held.turns.length > 0 || !hearing.flushed) this.tellTurns(true);
    this.#open(metadata, false);
  }

  #requireAnswerable(): void {
    const { hearing, held, response } = this;
    if (response) {
      throw new EventFault(
        'conversation_already_has_active_response',
        `the response ${response.id} is still under way`,
      );
    }
    if (hearing.active && hearing.fresh) {
      throw new EventFault('input_audio_buffer_not_committed', 'Gemini Live has heard audio that is not committed yet');
    }
    const isTold = held.results.length > 0 || hearing.active || hearing.flushed;
    if (held.results.length > 0 && held.turns.length > 0) {
      throw new RequestFault('response', 'Gemini Live takes results of functions by themselves, without new messages');
    }
    const last = held.turns.at(-1);
    if (!takesTurns(this.model) && !isTold && !(last && canBeTyped(last))) {
      throw new RequestFault('response', `${this.model} answers what the user says: there is nothing to answer`);
    }
  }

  /** The response under way, or one that the model begins by itself. */
  respond(): LiveResponse {
    return this.response ?? this.#open(null, true);
  }

  #open(metadata: JsonObject | null, byItself: boolean): LiveResponse {
    this.hearing.answered(byItself);
    const { speaks, limit } = this.settings;
    const about = { output_modalities: [speaks ? 'audio' : 'text'], max_output_tokens: limit ?? 'inf', metadata };
    this.response = new LiveResponse(this.outbox, this.thread, this.newId, about);
    return this.response;
  }

  /** Ends the response under way, with everything that was used since the last one. What was heard belongs before it. */
  finish(outcome: LiveOutcome): void {
    this.hearing.turnOver();
    this.response?.finish(outcome, this.usage.take());
    this.response = null;
  }
}
