/** What the gateway must understand of a stream's dialect: where its text is, how it ends, how it says that something went wrong. */
import { readJson } from '../../bounded-json.ts';
import type { JsonObject, ServerEvent, Usage } from '../../providers/provider.ts';
import type { GatewayError } from '../errors.ts';
import { AlikeEvents } from './alike.ts';
import { GrowingText } from './growing-text.ts';

/** What has been seen of a stream so far. */
export interface StreamState {
  /** The stream's own id, so that what continues it can carry the same. */
  id: string | null;
  model: string | null;
  usage: Usage | null;
  /** The usage tells what was asked; what was produced is not counted in it yet. */
  usageOpen: boolean;
  /** Characters of all that was produced: text, thoughts, arguments of tools. */
  characters: number;
  /** Pieces of content that are no characters: sound, pictures, the opening of a call. */
  otherContent: number;
  /** Events that bring text and nothing else. */
  alike: AlikeEvents;
  /** The delivered text. */
  text: GrowingText;
  /** Something other than text was delivered (a tool call), or more than is kept: the stream cannot be taken up by another target. */
  beyondText: boolean;
  /** The model said that it is done, whether or not the terminator came. */
  finished: boolean;
  /** There are several answers beside each other. */
  several: boolean;
  /** Where a dialect puts text into blocks: how far the block of the text has come. */
  block: 'unopened' | 'open' | 'closed';
  /** Where a dialect opens and closes its text in several steps: how many of them were told. */
  steps: number;
  /** Where a dialect names the item that its text stands in: the name. */
  item: string | null;
  /** Where a dialect numbers its events: the last number. */
  sequence: number;
  /** Where a dialect ends with all that it opened with: what it opened with. */
  opened: JsonObject;
}

const nothing: JsonObject = Object.freeze({});

export const newStreamState = (): StreamState => ({
  id: null,
  model: null,
  usage: null,
  usageOpen: false,
  characters: 0,
  otherContent: 0,
  alike: new AlikeEvents(),
  text: new GrowingText(),
  beyondText: false,
  finished: false,
  several: false,
  block: 'unopened',
  steps: 0,
  item: null,
  sequence: -1,
  opened: nothing,
});

/** Far more than a model says in one answer: a stream without end must not fill the memory. */
const longestText = 4 * 1024 * 1024;

export function noteText(state: StreamState, text: string): void {
  state.characters += text.length;
  if (state.characters <= longestText) {
    state.text.push(text);
    return;
  }
  state.text = new GrowingText();
  state.beyondText = true;
}

/** A fault that the provider reports inside its stream. */
export interface ReportedFault {
  fault: 'reported';
  type: string;
  message: string;
  /** Its name or its status. */
  code: string | null;
}

type Meaning = 'part' | 'end' | 'malformed' | ReportedFault;

export interface Dialect {
  /** Takes note of an event and says what it means. */
  read(event: ServerEvent, state: StreamState): Meaning;
  /** The event that tells a client that the stream failed. */
  errorEvent(error: GatewayError, state: StreamState): ServerEvent;
  /** What a finished stream lacks when its provider left the terminator out; null where nothing can be added. */
  terminator: ServerEvent | null;
  /** True where no event says that the stream is complete: its end is the end of the bytes. */
  endsWithBytes: boolean;
  /** Null for dialects that cannot be continued by another target. */
  resume: ResumeRules | null;
}

/** What an event of another stream is to a client that has had a part of the first one. */
type Place =
  /** It says what the client was told before, such as an opening. */
  | 'repeated'
  | 'new'
  /** It cannot stand behind what was delivered. */
  | 'clash';

/** Where a new stream is joined to what the client has. */
export interface Seam {
  /** All that the client has; grows with what is joined. */
  delivered: StreamState;
  /** The text that it had when the new stream began. */
  before: string;
  /** How many characters of the new stream's text say nothing that it did not have by then. */
  repeated: number;
}

/** How another target's stream is joined to what was already delivered. */
export interface ResumeRules {
  /** The request that asks to go on from `delivered`, for models that accept the beginning of their own answer. */
  continuation(body: JsonObject, delivered: string): JsonObject;
  /** The text that an event carries; null for events without text. */
  textOf(event: ServerEvent): string | null;
  /** The event again, as one of the first stream: with this text instead of its own if it has any, and with the first stream's id. */
  rewritten(event: ServerEvent, text: string, seam: Seam): ServerEvent;
  /** Leaves out what the new model thinks before its first word, where the client's text began already: each event as if nothing had been thought, null for one of a thought. */
  thoughtFilter?(delivered: StreamState): (event: ServerEvent) => ServerEvent | null;
  place(event: ServerEvent, delivered: StreamState): Place;
  /** True for events that say that the model is done. */
  ends(event: ServerEvent): boolean;
  /** What must be told before an event that ends: a model with nothing to add does not close what the first one opened. */
  closing(event: ServerEvent, delivered: StreamState): ServerEvent[];
}

/** The data of an event as an object; null when it is no JSON object. */
export function jsonOf(event: ServerEvent): JsonObject | null {
  try {
    const value: unknown = readJson(event.data);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

export const objectIn = (json: JsonObject, name: string): JsonObject => {
  const value = json[name];
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
};

/** The fault that an `error` field reports, in any of the shapes that providers use. */
export function reportedFault(error: unknown): ReportedFault {
  if (typeof error === 'string') return { fault: 'reported', type: 'api_error', message: error, code: null };
  const fields = typeof error === 'object' && error !== null ? (error as JsonObject) : {};
  return {
    fault: 'reported',
    type: typeof fields.type === 'string' ? fields.type : 'api_error',
    message: typeof fields.message === 'string' ? fields.message : 'The provider reported an error inside its stream',
    code: typeof fields.code === 'string' || typeof fields.code === 'number' ? String(fields.code) : null,
  };
}
