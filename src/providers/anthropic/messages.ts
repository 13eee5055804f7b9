/** The turns of a conversation as system text and messages. */
import type { AssistantTurn, Conversation, UserTurn } from '../chat/conversation.ts';
import { hoisted } from '../chat/turns.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import { assistantBlocks, textBlock, userBlocks } from './blocks.ts';

interface Written {
  system: readonly JsonObject[];
  messages: readonly JsonObject[];
}

type SpokenTurn = UserTurn | AssistantTurn;

export function writeMessages(conversation: Conversation, facts: CallFacts): Written {
  const { system, turns } = hoisted(conversation);
  const messages: JsonObject[] = [];
  for (const turn of turns) {
    const message = messageOf(turn, turn === turns.at(-1), facts);
    if (message) messages.push(message);
  }
  return { system: system.map(textBlock), messages };
}

function messageOf(turn: SpokenTurn, last: boolean, facts: CallFacts): JsonObject | null {
  const blocks = turn.role === 'user' ? userBlocks(turn.parts, facts) : assistantBlocks(turn.parts);
  if (turn.role === 'assistant' && last) return beginning(blocks);
  return { role: turn.role, content: contentOf(blocks) };
}

/** A last message of the assistant's is the beginning of its answer: it may not end in white space, and an empty one begins nothing. */
function beginning(blocks: readonly JsonObject[]): JsonObject | null {
  const end = blocks.at(-1);
  if (!end) return null;
  const trimmed = end.type === 'text' ? { ...end, text: String(end.text).trimEnd() } : end;
  return { role: 'assistant', content: contentOf([...blocks.slice(0, -1), trimmed]) };
}

/** Stands for a message of nothing, which is refused. */
const nothing = '.';

/** A single text without a mark is written as such. */
function contentOf(blocks: readonly JsonObject[]): unknown {
  const [first] = blocks;
  if (!first) return nothing;
  return blocks.length === 1 && first.type === 'text' && first.cache_control === undefined ? first.text : blocks;
}
