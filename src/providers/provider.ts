/** What a provider is: data and pure functions. An OpenAI-compatible one is a few lines; a dialect of its own adds three functions to an endpoint. */
import type { EndpointKind } from './endpoints.ts';

/** The settings of one target for its provider, flat and in snake_case: region, project, deployment, version and the like. */
export type TargetFields = Readonly<Record<string, unknown>>;

/** What is known about a call when its upstream address, headers or body are made. */
export interface CallFacts {
  kind: EndpointKind;
  /** The model's name as the provider knows it; empty where the call names none. */
  model: string;
  stream: boolean;
  /** The provider's credential, if the target has one. */
  credential: string | null;
  fields: TargetFields;
  /** The part of the path that the route captured, such as a file's id. */
  pathParams: Readonly<Record<string, string>>;
  /** A header of the client's, for those that a provider's own SDK sends. */
  clientHeader(name: string): string | null;
}

export type JsonObject = Record<string, unknown>;

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
}

/** Turns one upstream stream event into events of the client's dialect; holds what must be remembered between events. */
interface StreamTranslator {
  event(event: ServerEvent): ServerEvent[];
  /** Called once at the end of a stream that came to its proper end. */
  end(): ServerEvent[];
}

/** One server-sent event, parsed. */
export interface ServerEvent {
  event: string | null;
  data: string;
}

/** For an endpoint whose dialect differs from the route's own. */
interface Translation {
  request(body: JsonObject, facts: CallFacts): JsonObject;
  response(body: JsonObject, facts: CallFacts): JsonObject;
  stream(facts: CallFacts): StreamTranslator;
}

export interface ProviderEndpoint {
  /** Below the provider's address; a leading slash. Absent: the route's own path. */
  path?: string | ((facts: CallFacts) => string);
  method?: string;
  translation?: Translation;
}

/** A provider inside the program: it answers without any network. */
type LocalAnswer = (request: Request) => Response | Promise<Response>;

export interface Provider {
  /** As configs and headers name it: `openai`, `azure-openai`. */
  id: string;
  /** As people call it. */
  name: string;
  /** Where its API begins, version segment included; null where only the target knows. */
  address: string | ((facts: CallFacts) => string | null) | null;
  /** The headers that carry the credential and whatever else the provider wants on every call. */
  headers(facts: CallFacts): Record<string, string>;
  /** False for providers that can be called without a credential. */
  needsCredential: boolean;
  /** The endpoints it offers. A kind that is absent answers 400 `unsupported_endpoint`. */
  endpoints: Partial<Record<EndpointKind, ProviderEndpoint>>;
  /** True where models go on from the beginning of their own answer, given as a last assistant message. */
  continuesPrefix?: boolean;
  local?: LocalAnswer;
}
