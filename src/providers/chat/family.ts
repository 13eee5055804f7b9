/** Fronts are what clients speak, families what providers speak; a conversation and its answer stand between, so that any front meets any family. */

import type { CallFacts, JsonObject, RawAnswer, ServerEvent, StreamTranslator } from '../call.ts';
import type { EncodedBody } from '../encoded-body.ts';
import type { Translation } from '../translation.ts';
import type { AnswerReader, AnswerWriter, ChatAnswer } from './answer.ts';
import type { Conversation } from './conversation.ts';

/** A dialect of clients. */
export interface Front {
  /** Throws a `RequestFault` that names the field. */
  read(facts: CallFacts): Conversation;
  write(answer: ChatAnswer, facts: CallFacts): JsonObject;
  writer(facts: CallFacts): AnswerWriter;
}

/** A dialect of providers. */
export interface ChatFamily {
  /** URLs in the conversation that this family cannot be given as they are. */
  media?(conversation: Conversation, facts: CallFacts): readonly string[];
  /** Throws a `RequestFault` for what the family cannot do; drops nothing that changes the meaning. */
  request(conversation: Conversation, facts: CallFacts): JsonObject | EncodedBody;
  response(answer: unknown, facts: CallFacts, raw: RawAnswer): ChatAnswer;
  /** `asked` tells what is answered, where what was asked for must be known to read it. */
  reader(facts: CallFacts, asked?: () => Conversation): AnswerReader;
}

export function translate(front: Front, family: ChatFamily): Translation {
  let last: { facts: CallFacts; conversation: Conversation } | null = null;
  /** Read once for what must be fetched and for the request, where nothing was fetched between. */
  const read = (facts: CallFacts): Conversation => {
    if (last?.facts !== facts) last = { facts, conversation: front.read(facts) };
    return last.conversation;
  };
  return {
    ...(family.media && { media: (facts) => family.media?.(read(facts), facts) ?? [] }),
    request: (facts) => family.request(read(facts), facts),
    response: (answer, facts, raw) => front.write(family.response(answer, facts, raw), facts),
    stream: (facts) =>
      joined(
        family.reader(facts, () => read(facts)),
        front.writer(facts),
      ),
  };
}

function joined(reader: AnswerReader, writer: AnswerWriter): StreamTranslator {
  const written = (events: ReturnType<AnswerReader['read']>): ServerEvent[] =>
    events.flatMap((event) => writer.write(event));
  return {
    event: (event) => written(reader.read(event)),
    end: () => [...written(reader.end()), ...writer.end()],
  };
}
