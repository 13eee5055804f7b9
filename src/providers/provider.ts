/** What a provider is: data and pure functions. An OpenAI-compatible one is a few lines; a dialect of its own adds a translation to an endpoint. */
import type { Authentication } from './authentication.ts';
import type { ChatFamily } from './chat/family.ts';
import type { EncodedBody } from './encoded-body.ts';
import type { EndpointKind } from './endpoints.ts';
import type { StreamedCall } from './streamed-call.ts';

/** The settings of one target for its provider, flat and in snake_case: region, project, deployment, version and the like. */
export type TargetFields = Readonly<Record<string, unknown>>;

export type JsonObject = Record<string, unknown>;

/** Something that a URL in the request pointed to, fetched for a provider that takes bytes only. */
export interface FetchedMedia {
  mime: string;
  base64: string;
}

/** A file of a multipart request. */
export interface SentFile {
  filename: string;
  contentType: string;
  bytes: Uint8Array;
}

/** What is known about a call when its upstream address, headers or body are made, and when its answer is read. */
export interface CallFacts {
  /** The provider's id. */
  provider: string;
  /** The operation at the provider; a chat completion where a front adapts another dialect to it. */
  kind: EndpointKind;
  /** The model's name as the provider knows it; empty where the call names none. */
  model: string;
  stream: boolean;
  /** The provider's credential, if the target has one. */
  credential: string | null;
  fields: TargetFields;
  /** The address that the target gives in place of the provider's own. */
  customHost: string | null;
  /** The part of the path that the route captured, such as a file's id. */
  pathParams: Readonly<Record<string, string>>;
  /** The query as the client wrote it, without the question mark. */
  query: string;
  /** The client's parameters after shaping: JSON fields, or the text fields of a form. Never changed by anyone. */
  body: Readonly<JsonObject>;
  /** Files of a form, by field name. */
  files: ReadonlyMap<string, SentFile>;
  /** What the URLs named by `media` hold. */
  media: ReadonlyMap<string, FetchedMedia>;
  /** What is said about the request: by its client, its config, its key and its workspace. */
  metadata: Readonly<Record<string, string>>;
  /** Stands before the names of metadata that become labels on a cloud's bill, so that they do not meet the customer's own. */
  labelPrefix: string;
  /** Answers keep to OpenAI's own fields and finish reasons. */
  strict: boolean;
  /** Seconds since 1970. */
  now(): number;
  /** A new id: `newId('call_')`. */
  newId(prefix: string): string;
  /** A model that is named elsewhere than in `model`, as a row of a batch does: as the provider knows it. Throws, naming the place, where the caller may not use it. */
  permittedModel(named: string, where: string): string;
  /** Which objects of a cloud's storage are the caller's; null where the caller brought the credentials along. */
  storage(): OwnStorage | null;
  /** A header of the client's, for those that a provider's own SDK sends. */
  clientHeader(name: string): string | null;
}

/** The part of a shared storage that belongs to one workspace. */
export interface OwnStorage {
  /** Keys of its objects begin so. */
  folder: string;
  /** Whether its objects may lie in this bucket. */
  allows(bucket: string): boolean;
  /** It is reached with the gateway's own identity, which may read what belongs to others. */
  lent: boolean;
}

/** Tokens and other units that a call used, in one form for every dialect. Input includes what was read from or written to a prompt cache. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  reasoningTokens: number;
  inputAudioTokens: number;
  outputAudioTokens: number;
  /** Units that are not tokens, by the price table's names: `web_search`, `generated_images`, ... */
  units: Readonly<Record<string, number>>;
  /** What the provider says that it charged, in US cents; null where it does not say. */
  reportedCents: number | null;
}

/** One server-sent event, parsed. Other framings are brought into this form: an AWS frame's event type and payload, a line of JSON. */
export interface ServerEvent {
  event: string | null;
  data: string;
}

/** Turns upstream stream events into events of the client's dialect; holds what must be remembered between them. A fault that the provider reports is thrown as a `ProviderFault`. */
export interface StreamTranslator {
  event(event: ServerEvent): ServerEvent[];
  /** Called once when the upstream bytes end. It completes the stream only if the provider said that it was complete; `told` is true where HTTP itself marked the end, so that nothing can be missing. */
  end(told?: boolean): ServerEvent[];
}

/** An answer as it came. */
export interface RawAnswer {
  status: number;
  headers: Pick<Headers, 'get' | 'has'>;
  bytes: Uint8Array;
}

/** For an endpoint whose dialect differs from the route's own. */
export interface Translation {
  /** Only answers differ: the request travels as one that nobody translates. */
  answersOnly?: true;
  /** URLs in the request whose contents must be fetched before `request` is called. */
  media?(facts: CallFacts): readonly string[];
  /** The body to send; absent for calls without one. Throws a `RequestFault` for what the provider cannot do. */
  request?(facts: CallFacts): JsonObject | EncodedBody;
  /** `answer` is the parsed JSON; null where `takes` is `bytes`. */
  response(answer: unknown, facts: CallFacts, raw: RawAnswer): JsonObject | EncodedBody;
  /** Answers that are no JSON, such as audio, are handed over unread; with `nothing` they go to the client as they come, and only refusals are read. */
  takes?: 'bytes' | 'nothing';
  stream?(facts: CallFacts): StreamTranslator;
}

/** A call that is one of several that an operation takes. */
export interface ProviderCall {
  method: string;
  /** Below the provider's address; or a full address, such as one that the provider answered with. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: JsonObject | EncodedBody;
  /** An address that is signed by itself gets no credential of ours. */
  bare?: boolean;
  /** For a call to another service of the same cloud. */
  authentication?: Authentication;
  /** Statuses besides 2xx that the operation reads itself. */
  accepts?: readonly number[];
}

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
export interface Lesson {
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
  learns?(target: Pick<CallFacts, 'model' | 'fields' | 'customHost'>): Lesson | null;
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
