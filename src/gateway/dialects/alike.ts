/** Most events of a stream are the one before with another text. Those are told by what stands around it, and are not parsed again. */
import type { ServerEvent } from '../../providers/provider.ts';

/** What JSON writes otherwise than it means: quotes, backslashes and control characters. */
const written = /[^ !#-[\]-\uffff]/;
const probe = 'probe';
/** Providers that put something new into every event are not looked at for long. */
const mostLessons = 4;

export class AlikeEvents {
  #name: string | null = null;
  #before = '';
  #after = '';
  #lessons = 0;

  /** The text of an event that is alike; null for all others. */
  textIn({ event, data }: ServerEvent): string | null {
    const { length } = this.#before;
    const end = data.length - this.#after.length;
    if (length === 0 || end < length || event !== this.#name) return null;
    if (!data.startsWith(this.#before) || !data.endsWith(this.#after)) return null;
    const text = data.slice(length, end);
    return text === '' || written.test(text) ? null : text;
  }

  /** Takes an event that brought this text and nothing else as the example, where `textOf` finds the text in what is like it. */
  learn({ event, data }: ServerEvent, text: string, textOf: (event: ServerEvent) => string | null): void {
    if (this.#lessons >= mostLessons || text === '' || written.test(text)) return;
    this.#lessons++;
    const start = data.lastIndexOf(`"${text}"`) + 1;
    const before = data.slice(0, start);
    const after = data.slice(start + text.length);
    const alike = start > 0 && textOf({ event, data: before + probe + after }) === probe;
    this.#name = event;
    this.#before = alike ? before : '';
    this.#after = after;
  }
}
