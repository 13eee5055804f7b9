/** How the dialect of an endpoint is turned into the route's own, and back. */
import type { CallFacts, JsonObject, RawAnswer, StreamTranslator } from './call.ts';
import type { EncodedBody } from './encoded-body.ts';

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
