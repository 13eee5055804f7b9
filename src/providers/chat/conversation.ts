/** A conversation with a model in one form: what every front dialect is read into, and every family of providers is written from. */
import type { JsonObject } from '../call.ts';

/** A mark that what stands up to here is worth keeping in the provider's prompt cache: `{type, ttl}` as the client wrote it. */
export type CacheMark = Readonly<JsonObject>;

export interface TextPart {
  type: 'text';
  text: string;
  cache: CacheMark | null;
}

export type MediaSource =
  | { from: 'data'; base64: string }
  /** http(s), or a cloud's own scheme: gs://, s3://. */
  | { from: 'url'; url: string }
  /** A file that was uploaded to the provider. */
  | { from: 'file'; id: string }
  | { from: 'text'; text: string };

export interface MediaPart {
  type: 'media';
  kind: 'image' | 'audio' | 'video' | 'document';
  /** Null where only the source knows. */
  mime: string | null;
  source: MediaSource;
  name: string | null;
  /** How closely an image is looked at: `low`, `high`, `auto`. */
  detail: string | null;
  cache: CacheMark | null;
}

export interface ToolResultPart {
  type: 'tool-result';
  callId: string;
  /** The tool's name, found by the call's id where the client did not write it. */
  name: string | null;
  content: readonly (TextPart | MediaPart)[];
  isError: boolean;
  cache: CacheMark | null;
}

export interface ThinkingPart {
  type: 'thinking';
  text: string;
  /** What lets the provider trust its own earlier thoughts; null where it gave none. */
  signature: string | null;
}

/** Thoughts that only the provider can read. */
export interface RedactedThinkingPart {
  type: 'redacted-thinking';
  content: string;
}

export interface ToolCallPart {
  type: 'tool-call';
  id: string;
  name: string;
  /** JSON as the model wrote it; may be empty. */
  arguments: string;
  /** A provider's mark that must come back with the call. */
  signature: string | null;
  cache: CacheMark | null;
}

export interface RefusalPart {
  type: 'refusal';
  text: string;
}

export type UserPart = TextPart | MediaPart | ToolResultPart;
export type AssistantPart = TextPart | MediaPart | ThinkingPart | RedactedThinkingPart | ToolCallPart | RefusalPart;

interface SystemTurn {
  role: 'system';
  parts: readonly TextPart[];
}
export interface UserTurn {
  role: 'user';
  parts: readonly UserPart[];
}
export interface AssistantTurn {
  role: 'assistant';
  parts: readonly AssistantPart[];
}
export type Turn = SystemTurn | UserTurn | AssistantTurn;

export interface Tool {
  name: string;
  description: string | null;
  /** JSON Schema; null where the client gave none. */
  parameters: Readonly<JsonObject> | null;
  strict: boolean | null;
  cache: CacheMark | null;
  /** Further fields of the tool that some provider may know: `defer_loading`, `input_examples`. */
  extras: Readonly<JsonObject>;
}

export type ToolChoice = { mode: 'auto' } | { mode: 'none' } | { mode: 'required' } | { mode: 'tool'; name: string };

/** How hard the model should think. */
export type Reasoning =
  | { mode: 'off' }
  /** `minimal`, `low`, `medium`, `high`, `xhigh`, `max`. */
  | { mode: 'effort'; effort: string }
  | { mode: 'budget'; tokens: number }
  /** The model decides, within the effort if one is given. */
  | { mode: 'adaptive'; effort: string | null };

export type OutputFormat =
  | { type: 'text' }
  | { type: 'json' }
  | { type: 'schema'; name: string; description: string | null; schema: Readonly<JsonObject>; strict: boolean | null };

export interface Conversation {
  model: string;
  turns: readonly Turn[];
  tools: readonly Tool[];
  /** Tools that the provider runs itself, as the client wrote them. */
  hostedTools: readonly Readonly<JsonObject>[];
  toolChoice: ToolChoice | null;
  parallelToolCalls: boolean | null;
  /** The client did not ask for one call at a time, but has room for no more: what a model calls beyond is not told. */
  tellsOneCall?: boolean;
  /** The most tokens that may be written. */
  limit: number | null;
  temperature: number | null;
  topP: number | null;
  topK: number | null;
  seed: number | null;
  frequencyPenalty: number | null;
  presencePenalty: number | null;
  stop: readonly string[];
  /** How many answers are wanted beside each other. */
  count: number;
  logprobs: { top: number } | null;
  reasoning: Reasoning | null;
  /** Whether the client wants to read the model's thoughts; null where it did not say. */
  showReasoning: boolean | null;
  format: OutputFormat;
  user: string | null;
  metadata: Readonly<JsonObject> | null;
  serviceTier: string | null;
  stream: boolean;
  /** Whether a stream should report its usage to the client. */
  streamUsage: boolean;
  /** Top-level fields that the front does not know: a family that allows extra fields sends them on. */
  extras: Readonly<JsonObject>;
}
