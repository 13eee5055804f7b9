/** An answer, written as a chat completion. */
import type { AnswerChoice, AnswerPart, ChatAnswer } from '../../chat/answer.ts';
import type { CallFacts, JsonObject } from '../../provider.ts';
import { finishWord, writtenCalls } from './calls.ts';
import { shownIn } from './media.ts';
import { chatUsage } from './usage.ts';

export function writeChat(answer: ChatAnswer, facts: CallFacts): JsonObject {
  return {
    id: answer.id ?? facts.newId('chatcmpl-'),
    object: 'chat.completion',
    created: answer.created ?? facts.now(),
    model: answer.model ?? facts.model,
    choices: answer.choices.map((choice) => writeChoice(choice, facts)),
    usage: answer.usage ? chatUsage(answer.usage) : null,
    provider: facts.provider,
    ...(!facts.strict && answer.extras),
  };
}

const writeChoice = (choice: AnswerChoice, facts: CallFacts): JsonObject => ({
  index: choice.index,
  message: writeMessage(choice, facts),
  logprobs: choice.logprobs ?? null,
  finish_reason: (!facts.strict && choice.providerFinish) || finishWord(choice.finish, facts),
  ...(!facts.strict && choice.extras),
});

function writeMessage({ parts, annotations }: AnswerChoice, facts: CallFacts): JsonObject {
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const refusal = parts.flatMap((part) => (part.type === 'refusal' ? [part.text] : []));
  const calls = parts.filter((part) => part.type === 'tool-call');
  const media = parts.filter((part) => part.type === 'media');
  const silent = text.length === 0 && (calls.length > 0 || refusal.length > 0);
  return {
    role: 'assistant',
    content: silent ? null : text.join(''),
    refusal: refusal.length > 0 ? refusal.join('') : null,
    ...writtenCalls(calls, facts),
    ...(annotations.length > 0 && { annotations }),
    ...shownIn(media, text.join(''), facts),
    ...(!facts.strict && thoughts(parts)),
  };
}

/** What OpenAI's own answers do not have: shown where the client did not insist on its form. */
function thoughts(parts: readonly AnswerPart[]): JsonObject {
  const blocks = parts.flatMap((part) => {
    const block = writeBlock(part);
    return block ? [block] : [];
  });
  if (!blocks.some(({ type }) => type !== 'text')) return {};
  const reasoning = parts.flatMap((part) => (part.type === 'thinking' ? [part.text] : [])).join('');
  return { ...(reasoning !== '' && { reasoning_content: reasoning }), content_blocks: blocks };
}

function writeBlock(part: AnswerPart): JsonObject | null {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'thinking':
      return {
        type: 'thinking',
        thinking: part.text,
        ...(part.signature !== null && { signature: part.signature }),
      };
    case 'redacted-thinking':
      return { type: 'redacted_thinking', data: part.content };
    case 'block':
      return { ...part.block };
    default:
      return null;
  }
}
