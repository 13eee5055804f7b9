/** What a check sees of a request and of its answer. */
import type { JsonObject } from '../providers/provider.ts';
import { besideSegments, inputSegments, outputSegments, type TextSegment } from './text/segments.ts';

export type HookEvent = 'beforeRequestHook' | 'afterRequestHook';

/** One side of an exchange as checks see it. */
export interface Side {
  json: JsonObject;
  segments: readonly TextSegment[];
  isTransformed: boolean;
}

export interface HookFacts {
  event: HookEvent;
  requestType: string;
  request: JsonObject;
  requestTransformed?: boolean;
  /** Null before there is an answer. */
  response: { json: JsonObject; status: number } | null;
  isStream: boolean;
  provider: string;
  metadata: Readonly<Record<string, string>>;
  header(name: string): string | null;
  traceId: string;
}

export class CheckContext {
  readonly facts: HookFacts;
  readonly json: JsonObject;
  readonly isTransformed: boolean;
  readonly #headers: Readonly<Record<string, string>>;
  #segments: readonly TextSegment[] | null = null;
  #text: string | null = null;
  #whole: CheckContext | null = null;

  constructor(
    facts: HookFacts,
    json: JsonObject,
    isTransformed: boolean,
    headers: Readonly<Record<string, string>> = {},
  ) {
    this.facts = facts;
    this.json = json;
    this.isTransformed = isTransformed;
    this.#headers = headers;
  }

  get event(): HookEvent {
    return this.facts.event;
  }

  get isInput(): boolean {
    return this.facts.event === 'beforeRequestHook';
  }

  get requestType(): string {
    return this.facts.requestType;
  }

  /** The request's body as this check sees it. */
  get request(): JsonObject {
    return this.isInput ? this.json : this.facts.request;
  }

  /** The answer's body as this check sees it; null before there is one. */
  get response(): JsonObject | null {
    return this.isInput ? null : this.json;
  }

  /** The texts that are checked. */
  get segments(): readonly TextSegment[] {
    this.#segments ??= this.isInput
      ? inputSegments(this.requestType, this.json)
      : outputSegments(this.requestType, this.json);
    return this.#segments;
  }

  /** The same for a check that looks for what must not be there: with the texts beside what an answer says, behind the others. */
  get withBeside(): CheckContext {
    if (this.isInput) return this;
    if (this.#whole) return this.#whole;
    const beside = besideSegments(this.requestType, this.json);
    this.#whole = this;
    if (beside.length > 0) {
      this.#whole = new CheckContext(this.facts, this.json, this.isTransformed, this.#headers);
      this.#whole.#segments = [...this.segments, ...beside];
      this.#whole.#whole = this.#whole;
    }
    return this.#whole;
  }

  /** All of them, a line for each. */
  get text(): string {
    if (this.#text === null) {
      let text = '';
      for (const segment of this.segments) {
        if (segment.text !== '') text = text === '' ? segment.text : `${text}\n${segment.text}`;
      }
      this.#text = text;
    }
    return this.#text;
  }

  header(name: string): string | null {
    return this.#headers[name.toLowerCase()] ?? this.facts.header(name);
  }

  withHeaders(headers: Readonly<Record<string, string>>): CheckContext {
    return new CheckContext(this.facts, this.json, this.isTransformed, { ...this.#headers, ...headers });
  }

  /** The same with another body. */
  withJson(json: JsonObject): CheckContext {
    return json === this.json ? this : new CheckContext(this.facts, json, true, this.#headers);
  }
}

/** The context as services receive it: without the headers of the client. */
export function wireContext(context: CheckContext): JsonObject {
  const { facts } = context;
  const inputText = context.isInput ? context.text : joined(inputSegments(facts.requestType, facts.request));
  return {
    request: {
      json: context.request,
      text: inputText,
      isStreamingRequest: facts.isStream,
      isTransformed: context.isInput ? context.isTransformed : (facts.requestTransformed ?? false),
    },
    response: {
      json: context.response,
      text: context.isInput ? '' : context.text,
      statusCode: facts.response?.status ?? null,
      isTransformed: context.isInput ? false : context.isTransformed,
    },
    provider: facts.provider,
    requestType: facts.requestType,
    metadata: facts.metadata,
    eventType: facts.event,
  };
}

const joined = (segments: readonly TextSegment[]): string =>
  segments
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join('\n');
