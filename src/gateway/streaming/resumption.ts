/** Joins another target's stream to what the client already has: its opening is dropped, and so is the text that equals what was delivered. */
import type { ServerEvent } from '../../providers/provider.ts';
import { type Dialect, newStreamState, type ResumeRules, type Seam, type StreamState } from '../dialects/dialect.ts';

type Joined = { events: ServerEvent[] } | 'diverged';

interface HeldText {
  /** The last event that brought some of it. */
  event: ServerEvent;
  text: string;
}

/** What of an event the client has not. */
interface News {
  text: string;
  /** Goes out before it. */
  held: HeldText | null;
}

/** Fewer characters may well be said twice in a row. */
const shortestEcho = 3;

export class Resumption {
  readonly #dialect: Dialect;
  readonly #rules: ResumeRules;
  readonly #seam: Seam;
  /** The client's block of text was closed before this stream began: there is no room for more of it. */
  readonly #closed: boolean;
  /** The new stream as it is by itself. */
  readonly #own = newStreamState();
  readonly #withoutThoughts: (event: ServerEvent) => ServerEvent | null;
  /** What the new stream must still repeat before it says anything new. */
  #toRepeat: string;
  /** A continuation may begin with the white space that its prefix was not allowed to end with. */
  #whiteSpace: string;
  /** A model that was asked to go on may start over all the same; then its text begins with this. */
  #echo: string;
  /** What it has said so far, while both are possible. */
  #held: HeldText | null = null;

  constructor(dialect: Dialect, rules: ResumeRules, delivered: StreamState, continued: boolean) {
    const text = delivered.text.whole;
    this.#dialect = dialect;
    this.#rules = rules;
    this.#seam = { delivered, before: text, repeated: 0 };
    this.#withoutThoughts = rules.thoughtFilter?.(delivered) ?? ((event) => event);
    this.#closed = delivered.block === 'closed';
    this.#toRepeat = continued ? '' : text;
    this.#whiteSpace = continued ? text.slice(text.trimEnd().length) : '';
    this.#echo = continued && text.trim().length >= shortestEcho ? text : '';
  }

  join(events: readonly ServerEvent[]): Joined {
    const joined: ServerEvent[] = [];
    const { delivered } = this.#seam;
    const tell = (event: ServerEvent) => {
      this.#dialect.read(event, delivered);
      joined.push(event);
    };
    for (const sent of events) {
      const event = this.#withoutThoughts(sent);
      if (!event) continue;
      const news = this.#newsIn(event);
      if (news === 'diverged') return 'diverged';
      if (!news) continue;
      if (news.held) tell(this.#rules.rewritten(news.held.event, news.held.text, this.#seam));
      if (this.#rules.ends(event)) for (const missing of this.#rules.closing(event, delivered)) tell(missing);
      tell(this.#rules.rewritten(event, news.text, this.#seam));
    }
    return { events: joined };
  }

  /** The fault that the new stream reports, as one of the stream that the client reads. */
  retold(fault: ServerEvent): ServerEvent {
    return this.#rules.rewritten(fault, '', this.#seam);
  }

  /** What of an event's text the client has not; null when there is nothing new in the event at all. */
  #newsIn(event: ServerEvent): News | 'diverged' | null {
    this.#dialect.read(event, this.#own);
    const place = this.#rules.place(event, this.#seam.delivered);
    if (place === 'clash') return 'diverged';
    if (place === 'repeated') return null;
    const text = this.#rules.textOf(event) ?? '';
    const ends = this.#rules.ends(event);
    const fresh = this.#echo === '' ? this.#fresh(text) : this.#afterEcho(event, text, ends);
    if (fresh === null) return 'diverged';
    // It is done, or says something other than text, before it has said what was already delivered.
    if (this.#toRepeat !== '') return ends || this.#own.beyondText ? 'diverged' : null;
    if (fresh !== '' && this.#closed && this.#own.block !== 'closed') return 'diverged';
    if (fresh === '' && text !== '' && !ends) return null;
    return { text: fresh, held: text === '' ? this.#released() : null };
  }

  /** The part that is new of a model's text that may be a continuation or the whole answer again; what can still be either is held. */
  #afterEcho(event: ServerEvent, text: string, ends: boolean): string | null {
    if (text === '') return '';
    const echo = this.#echo;
    const said = (this.#held?.text ?? '') + text;
    if (said.length < echo.length && echo.startsWith(said) && !ends) {
      this.#held = { event, text: said };
      return '';
    }
    this.#echo = '';
    this.#held = null;
    if (!said.startsWith(echo)) return this.#fresh(said);
    this.#seam.repeated += echo.length;
    return said.slice(echo.length);
  }

  /** It says something else or is done: what was held is a continuation. */
  #released(): HeldText | null {
    const held = this.#held;
    if (!held) return null;
    this.#held = null;
    this.#echo = '';
    const text = this.#fresh(held.text) ?? '';
    return text === '' ? null : { ...held, text };
  }

  /** The part of `text` that the client does not have; null when it differs from what it has. */
  #fresh(text: string): string | null {
    const rest = this.#afterWhiteSpace(text);
    const overlap = Math.min(this.#toRepeat.length, rest.length);
    if (this.#toRepeat.slice(0, overlap) !== rest.slice(0, overlap)) return null;
    this.#toRepeat = this.#toRepeat.slice(overlap);
    const fresh = rest.slice(overlap);
    this.#seam.repeated += text.length - fresh.length;
    return fresh;
  }

  #afterWhiteSpace(text: string): string {
    let from = 0;
    while (from < text.length && this.#whiteSpace !== '') {
      if (text[from] === this.#whiteSpace[0]) {
        from++;
        this.#whiteSpace = this.#whiteSpace.slice(1);
      } else {
        this.#whiteSpace = '';
      }
    }
    return text.slice(from);
  }
}
