/** Server-sent events with everything that resumption needs: ids, reconnection times, and events without data. */
import { EventSplitter } from '../../gateway/streaming/sse.ts';

export interface SseEvent {
  id: string | null;
  event: string | null;
  /** Empty where an event only carries an id. */
  data: string;
  retry: number | null;
}

/** Reads events as bytes come, up to a largest one. */
export class EventReader {
  readonly #decoder = new TextDecoder();
  readonly #limit: number;
  readonly #splitter: EventSplitter;

  constructor(limit: number) {
    this.#limit = limit;
    this.#splitter = new EventSplitter(limit);
  }

  /** The events that are complete with this piece. Throws where one grows beyond the limit. */
  push(bytes: Uint8Array): SseEvent[] {
    const whole = this.#wholeEvents(bytes);
    if (!whole) return [];
    const text = this.#decoder.decode(whole);
    const events: SseEvent[] = [];
    for (let from = 0; from < text.length; ) {
      const end = boundary(text, from);
      const event = eventOf(text.slice(from, end?.at));
      if (event) events.push(event);
      from = end?.behind ?? text.length;
    }
    return events;
  }

  #wholeEvents(bytes: Uint8Array): Uint8Array | null {
    try {
      return this.#splitter.push(bytes);
    } catch {
      throw new EventTooLarge(this.#limit);
    }
  }
}

export class EventTooLarge extends Error {
  constructor(limit: number) {
    super(`an event is larger than ${limit} bytes`);
  }
}

/** The first blank line; a line may end in LF, CRLF or CR. */
function boundary(text: string, from: number): { at: number; behind: number } | null {
  const blank = /\r\n\r\n|\n\n|\r\r|\n\r\n/g;
  blank.lastIndex = from;
  const found = blank.exec(text);
  return found ? { at: found.index, behind: found.index + found[0].length } : null;
}

function eventOf(block: string): SseEvent | null {
  let id: string | null = null;
  let event: string | null = null;
  let retry: number | null = null;
  let data: string | null = null;
  for (const line of block.split(/\r\n|\n|\r/)) {
    if (line === '' || line.startsWith(':')) continue;
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') data = data === null ? value : `${data}\n${value}`;
    else if (field === 'event') event = value;
    else if (field === 'id' && !value.includes('\0')) id = value;
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) retry = Number(value);
  }
  if (data === null && id === null && retry === null && event === null) return null;
  return { id, event, data: data ?? '', retry };
}

export function writeSse({ id, event, data, retry }: Partial<SseEvent> & { data: string }): string {
  let text = '';
  if (event) text += `event: ${event}\n`;
  if (id) text += `id: ${id}\n`;
  if (retry != null) text += `retry: ${retry}\n`;
  for (const line of data.split(/\r\n|\n|\r/)) text += `data: ${line}\n`;
  return `${text}\n`;
}

export const keepAlive = ': keep-alive\n\n';
