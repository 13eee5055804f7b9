/** A model's answer in one form: what every family of providers is read into, and every front dialect is written from. */
import type { JsonObject, ServerEvent, Usage } from '../call.ts';
import type { MediaPart, RedactedThinkingPart, RefusalPart, ThinkingPart } from './conversation.ts';

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** Where a statement in the text comes from, in OpenAI's form: `{type: 'url_citation', url_citation: {...}}`. */
export type Annotation = Readonly<JsonObject>;

interface AnswerText {
  type: 'text';
  text: string;
}

export interface AnsweredCall {
  type: 'tool-call';
  id: string;
  name: string;
  /** JSON text; `{}` for a call without arguments. */
  arguments: string;
  /** A provider's mark that must come back with the call. */
  signature: string | null;
}

/** A block that only its own provider understands, such as the result of a tool that it ran itself; shown where answers need not be strict. */
export interface ForeignBlock {
  type: 'block';
  block: Readonly<JsonObject>;
}

export type AnswerPart =
  | AnswerText
  | AnsweredCall
  | ThinkingPart
  | RedactedThinkingPart
  | RefusalPart
  | MediaPart
  | ForeignBlock;

export interface AnswerChoice {
  index: number;
  parts: readonly AnswerPart[];
  finish: FinishReason;
  /** In the provider's own word. */
  providerFinish: string | null;
  stopSequence: string | null;
  /** In OpenAI's form: `{content: [...]}`. */
  logprobs: unknown;
  annotations: readonly Annotation[];
  /** Fields of the provider's own, shown where answers need not be strict. */
  extras: Readonly<JsonObject>;
}

export interface ChatAnswer {
  /** Null: one is made. */
  id: string | null;
  /** As the provider names it; null: as it was asked for. */
  model: string | null;
  created: number | null;
  choices: readonly AnswerChoice[];
  usage: Usage | null;
  extras: Readonly<JsonObject>;
}

/** One step of a streamed answer. `choice` counts answers beside each other, `call` the tool calls of one answer, both from 0. */
export type AnswerEvent =
  | { type: 'start'; id: string | null; model: string | null }
  | { type: 'text'; choice: number; text: string; logprobs?: unknown }
  | { type: 'thinking'; choice: number; text: string }
  /** Ends a thought. */
  | { type: 'signature'; choice: number; signature: string }
  | { type: 'redacted-thinking'; choice: number; content: string }
  | { type: 'tool-call'; choice: number; call: number; id: string; name: string; signature: string | null }
  | { type: 'arguments'; choice: number; call: number; text: string }
  | { type: 'refusal'; choice: number; text: string }
  | { type: 'media'; choice: number; media: MediaPart }
  | { type: 'block'; choice: number; block: Readonly<JsonObject> }
  | { type: 'annotations'; choice: number; annotations: readonly Annotation[] }
  | {
      type: 'finish';
      choice: number;
      reason: FinishReason;
      providerReason: string | null;
      stopSequence: string | null;
    }
  | { type: 'usage'; usage: Usage }
  /** Fields of the provider's own for the whole answer. */
  | { type: 'extras'; fields: Readonly<JsonObject> };

/** Reads a family's stream. Throws a `ProviderFault` for an error that the provider reports in it. */
export interface AnswerReader {
  read(event: ServerEvent): AnswerEvent[];
  /** The upstream bytes have ended: what was held back. Says `finish` only if the provider did. */
  end(): AnswerEvent[];
}

/** Writes a front's stream. */
export interface AnswerWriter {
  write(event: AnswerEvent): ServerEvent[];
  /** Closes the stream in the front's own way, if the answer has finished; nothing otherwise. */
  end(): ServerEvent[];
}
