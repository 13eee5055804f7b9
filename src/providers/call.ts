/** A call in the words that every provider shares: what is known of it, what it used, and what is answered. */
import type { EndpointKind } from './endpoints.ts';

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
