/** What guardrails must understand of a stream's dialect: which texts its events bring, how they are rewritten, and what the whole answer is. */
import type { JsonObject, ServerEvent } from '../../../providers/provider.ts';

/** A part of one of the texts of an answer. */
export interface TextDelta {
  /** Which text: a choice, a block, the arguments of a tool. */
  key: string;
  text: string;
  /** It is a part of JSON. */
  inJson: boolean;
  /** The provider has signed it: what is not refused or redacted stays as it is, so that the client can send it back. */
  isSigned?: true;
}

export interface Lens {
  /** The parts of texts that an event brings, in the order in which `withTexts` takes them. */
  deltas(json: JsonObject): TextDelta[];
  /** The event with other texts; null where nothing would be left of it. */
  withTexts(json: JsonObject, texts: readonly string[]): JsonObject | null;
  /** The texts that end with this event: what is held of them must leave before it. */
  closes(json: JsonObject, open: readonly string[]): string[];
  /** An event that brings more of a text, after `like`, which brought some of it. */
  more(like: JsonObject, key: string, text: string): JsonObject;
  /** The event with the texts as they were delivered, where it repeats them whole. */
  restated(json: JsonObject, texts: ReadonlyMap<string, string>): JsonObject;
  /** The event under its number, where events are numbered. */
  numbered(json: JsonObject, number: number): JsonObject;
  /** The texts of a whole answer. */
  textsOf(answer: JsonObject): Map<string, string>;
  assembly(): Assembly;
  /** The name under which the event is sent. */
  named(json: JsonObject): string | null;
}

/** The answer that a stream amounts to. */
export interface Assembly {
  push(json: JsonObject): void;
  whole(): JsonObject;
  /** The events that end the stream because its answer is refused, behind what was delivered. */
  refusal(delivered: ReadonlyMap<string, string>): ServerEvent[];
}

export const asEvent = (lens: Pick<Lens, 'named'>, json: JsonObject): ServerEvent => ({
  event: lens.named(json),
  data: JSON.stringify(json),
});
