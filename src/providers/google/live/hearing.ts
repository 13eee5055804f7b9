/** What the user says into the session: how much of it was sent, and the item of the conversation that it becomes. */
import type { LiveOutbox } from './outbox.ts';
import type { Thread } from './thread.ts';

const bytesOfSample = 2;

interface Utterance {
  id: string;
  started: boolean;
  /** It is an item of the conversation. */
  committed: boolean;
  /** The model has begun to answer it. */
  answered: boolean;
  transcript: string;
}

export class Hearing {
  readonly #outbox: LiveOutbox;
  readonly #thread: Thread;
  readonly #newId: (prefix: string) => string;
  #ms = 0;
  #utterance: Utterance | null = null;
  /** There is speech that belongs to no item yet. */
  fresh = false;
  /** The provider was told that the user speaks, and not yet that this is over. */
  active = false;
  /** The provider was told to answer what it has heard. */
  flushed = false;

  constructor(outbox: LiveOutbox, thread: Thread, newId: (prefix: string) => string) {
    this.#outbox = outbox;
    this.#thread = thread;
    this.#newId = newId;
  }

  appended(base64: string, rate: number): void {
    const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
    this.#ms += (((base64.length * 3) / 4 - padding) / bytesOfSample / rate) * 1000;
    this.fresh = true;
  }

  /** Without a time it is now. */
  started(atMs: number | null): void {
    const utterance = this.#unanswered();
    if (utterance.started) return;
    utterance.started = true;
    this.#tellOf('input_audio_buffer.speech_started', { audio_start_ms: Math.round(atMs ?? this.#ms) });
  }

  stopped(atMs: number | null): void {
    if (!this.#utterance?.started) return;
    this.#tellOf('input_audio_buffer.speech_stopped', { audio_end_ms: Math.round(atMs ?? this.#ms) });
  }

  /** What was heard becomes an item. */
  commit(): void {
    this.fresh = false;
    const utterance = this.#unanswered();
    if (utterance.committed) return;
    utterance.committed = true;
    this.#tellOf('input_audio_buffer.committed', { previous_item_id: this.#thread.last });
    const item = {
      id: utterance.id,
      object: 'realtime.item',
      type: 'message',
      role: 'user',
      status: 'completed',
      content: [{ type: 'input_audio', transcript: null }],
    };
    this.#thread.added(item);
    this.#thread.done(item);
  }

  transcribed(delta: string, finished: boolean): void {
    if (delta !== '') {
      const utterance = this.#utterance ?? this.#begin();
      if (!utterance.committed) this.commit();
      utterance.transcript += delta;
      this.#tellOf('conversation.item.input_audio_transcription.delta', { content_index: 0, delta });
    }
    if (finished) this.#complete();
  }

  /** The model begins to answer; by itself, it has heard something. */
  answered(byItself: boolean): void {
    if (byItself && this.fresh) this.commit();
    if (this.#utterance?.committed) this.#utterance.answered = true;
    this.flushed = false;
  }

  /** The turn is over; speech that interrupted it belongs to the next one. */
  turnOver(): void {
    if (!this.#utterance?.answered) return;
    this.#complete();
    this.#utterance = null;
  }

  #unanswered(): Utterance {
    this.turnOver();
    return this.#utterance ?? this.#begin();
  }

  #begin(): Utterance {
    this.#utterance = {
      id: this.#newId('item_'),
      started: false,
      committed: false,
      answered: false,
      transcript: '',
    };
    return this.#utterance;
  }

  #complete(): void {
    if (!this.#utterance?.transcript) return;
    const { transcript } = this.#utterance;
    this.#utterance.transcript = '';
    // It is paid for with the response.
    const usage = { type: 'tokens', input_tokens: 0, output_tokens: 0, total_tokens: 0 };
    this.#tellOf('conversation.item.input_audio_transcription.completed', { content_index: 0, transcript, usage });
  }

  #tellOf(type: string, fields: Record<string, unknown>): void {
    this.#outbox.tell(type, { item_id: this.#utterance?.id, ...fields });
  }
}
