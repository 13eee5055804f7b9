/** Anthropic's messages, as clients speak it. */
import type { Conversation } from '../../chat/conversation.ts';
import type { Front } from '../../chat/family.ts';
import { stepsOf } from '../../chat/replay.ts';
import type { CallFacts, JsonObject, ServerEvent } from '../../provider.ts';
import { MessageInMaking } from './message.ts';
import { readMessages } from './read.ts';

/** Each event is named by its own type. */
const named = (event: JsonObject): ServerEvent => ({ event: String(event.type), data: JSON.stringify(event) });

export const messagesFront: Front = {
  read: readMessages,
  write(answer, facts) {
    const message = new MessageInMaking(facts);
    for (const step of stepsOf(answer)) message.apply(step);
    return message.whole;
  },
  writer(facts) {
    const message = new MessageInMaking(facts);
    return {
      write: (event) => message.apply(event).map(named),
      end: () => message.end().map(named),
    };
  },
};

/** The conversation whose tokens are to be counted: whoever only counts sets no limit. */
export const countedConversation = (facts: CallFacts): Conversation =>
  readMessages({ ...facts, body: { max_tokens: 1, ...facts.body } });
