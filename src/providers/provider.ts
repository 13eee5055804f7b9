/** What a provider is: data and pure functions. An OpenAI-compatible one is a few lines; a dialect of its own adds a translation to an endpoint. */
import type { Authentication } from './authentication.ts';
import type { CallFacts, JsonObject, RawAnswer, TargetFields } from './call.ts';
import type { ChatFamily } from './chat/family.ts';
import type { EncodedBody } from './encoded-body.ts';
import type { EndpointKind } from './endpoints.ts';
import type { ProviderCall } from './provider-call.ts';
import type { StreamedCall } from './streamed-call.ts';
import type { Translation } from './translation.ts';

export type * from './call.ts';
export type { ProviderCall } from './provider-call.ts';
export type { Translation } from './translation.ts';

/** A call that begins work at the provider. Where nobody waits for that any longer, the call that ends it there is made, unless its answer tells that it is over. */
export interface Beginning {
  begins: ProviderCall;
  endedBy(answer: RawAnswer): ProviderCall | null;
}

/** The next thing that an operation in steps needs: calls, made a few at once, one that begins what must be ended, a pause before it asks again, or a file that the gateway keeps. */
export type Step =
  | { calls: readonly ProviderCall[]; atOnce?: number }
  | Beginning
  | { waitMs: number }
  | { keptFile: string };

/** What the calls of a step were answered, or the file as if it had been one of them; empty after a pause. */
export type StepAnswers = readonly RawAnswer[];

/** What an operation in steps comes to; events are a stream. Beside a `chat` family it is the provider's own answer, which the family reads. */
type Outcome = JsonObject | EncodedBody | StreamedCall;

/** An operation of several calls. It asks by yielding and does no I/O of its own. `asked` is the request that the endpoint's `chat` family wrote; empty where it has none. */
export type Steps = (facts: CallFacts, asked: JsonObject | EncodedBody) => Generator<Step, Outcome, StepAnswers>;

/** What is to be said to each side of a realtime session now: texts of frames, in order. */
export interface Relayed {
  toClient: readonly string[];
  toProvider: readonly string[];
}

/** How a provider's side of a session ended: by itself, or after the client or the gateway had left. */
export interface SessionEnd {
  code: number;
  reason: string;
  by: 'provider' | 'client';
}

/**
 * A realtime session between a client that speaks OpenAI's events and a provider that does not; it holds what must be
 * remembered between frames. What has no counterpart is answered with an `error` event that names it.
 */
export interface RealtimeTranslator {
  /** The provider has accepted. */
  opened(): Relayed;
  /** A frame of the client's; null for a binary one. */
  fromClient(text: string | null): Relayed;
  fromProvider(text: string): Relayed;
  /** What the client is still told when the provider's side is closed. */
  closed(end: SessionEnd): readonly string[];
  /** Characters of frames that wait until the provider takes them. */
  readonly held: number;
}

/** How the provider cuts its streams into events; `sse-lines` are server-sent events that end with their line, also where the blank line is left out. */
export type Framing = 'sse' | 'sse-lines' | 'aws' | 'lines';

export interface ProviderEndpoint {
  /** Below the provider's address (`base`), with a leading slash, or a full address. Absent: the route's own path. */
  path?: string | ((facts: CallFacts, base: string) => string);
  method?: string;
  /** The query instead of the client's own, without the question mark. */
  query?(facts: CallFacts): string;
  /** Headers of this endpoint alone. */
  headers?(facts: CallFacts): Record<string, string>;
  /** For a provider that speaks the route's dialect with small differences: the very same object where nothing changes, so that the client's bytes travel. */
  adjust?(body: Readonly<JsonObject>, facts: CallFacts): Readonly<JsonObject>;
  /** Chat in a dialect of the provider's own, or in OpenAI's with differences in its answers. */
  chat?: ChatFamily;
  /** Any other operation in a dialect of its own. */
  translation?: Translation;
  /** An operation that takes several calls; instead of a translation, or beside `chat`. */
  steps?: Steps;
  framing?: Framing;
  /** A realtime session in a dialect of the provider's own; where it is absent, frames are relayed as they come. */
  realtime?(facts: CallFacts): RealtimeTranslator;
}

/** An endpoint, or the choice of one by model or setting; null where this model has none. */
export type OfferedEndpoint = ProviderEndpoint | ((facts: CallFacts) => ProviderEndpoint | null);

/** Something that a provider must be asked before calls to a target can be made. */
export interface Discovery {
  /** To a full address. */
  call: ProviderCall;
  /** The settings that the answer adds to the target's own. */
  read(answer: JsonObject): TargetFields;
}

/** A provider inside the program: it answers without any network. */
type LocalAnswer = (request: Request) => Response | Promise<Response>;

/** A setting of a target that a provider reads. */
export interface ProviderField {
  name: string;
  required?: boolean;
  /** For people: what to write there. */
  about: string;
}

export interface Provider {
  /** As configs and headers name it: `openai`, `azure-openai`. */
  id: string;
  /** As people call it. */
  name: string;
  /** Other names that it is known by. */
  aliases?: readonly string[];
  /** Where its API begins, version segment included; null where only the target knows. */
  address: string | ((facts: CallFacts) => string | null) | null;
  /** The headers that carry a plain credential and whatever else the provider wants on every call. */
  headers(facts: CallFacts): Record<string, string>;
  /** How calls are authorised where a header with the credential is not enough; null: `headers` is. */
  authentication?(facts: CallFacts): Authentication | null;
  /** The paths of calls of models, for which alone the gateway's own identity is lent to what passes through; absent: for none. */
  modelCalls?: Readonly<Partial<Record<'POST' | 'GET', RegExp>>>;
  /** Of a cloud whose models and jobs read and write objects of a storage. */
  storage?: {
    /** Paths of jobs that workspaces with the same credential share: they do not pass through. */
    jobs: RegExp;
    /** Where a workspace finds its own. */
    routes: string;
  };
  /** The query of a call that passes through, where every call needs something in it; absent: the client's own. */
  passedQuery?(facts: CallFacts): string;
  /** False for providers that can be called without a credential, or with one made from `fields`. */
  needsCredential: boolean;
  fields?: readonly ProviderField[];
  /** The endpoints it offers. A kind that is absent answers 400 `unsupported_endpoint`, unless a front adapts it to chat. */
  endpoints: Partial<Record<EndpointKind, OfferedEndpoint>>;
  /** Takes the rows of a batch with the call that makes it: a file of rows for it is kept by the gateway, which hands them over. */
  rowsInline?: true;
  /** True where models go on from the beginning of their own answer, given as a last assistant message. */
  continuesPrefix?: boolean;
  /** The model that is paid for, where the name that a call has for it says nothing; null: the one that the answer names. Absent: the one that was asked for. */
  billedModel?(target: Pick<CallFacts, 'fields' | 'model'>): string | null;
  /** Where a target's settings and model do not tell all that calls need, such as which model a customer's own name stands for; null: they do. */
  discovers?(target: Pick<CallFacts, 'model' | 'fields' | 'customHost'>): Discovery | null;
  /** Tells the usage of a stream of chat where `stream_options` asks for it, and not otherwise. */
  takesStreamOptions?: true;
  /** The usage in its answers tells what the call cost: that is what it bills. */
  reportsCost?: true;
  /** Models that no price list knows; shown with those that one does. */
  models?: readonly string[];
  /** What a user of it should know; for the documentation. */
  notes?: readonly string[];
  local?: LocalAnswer;
}
