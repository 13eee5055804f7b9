/** A whole answer, step by step: what a stream of it would have said. */
import type { AnswerChoice, AnswerEvent, AnswerPart, ChatAnswer } from './answer.ts';

export const stepsOf = (answer: ChatAnswer): AnswerEvent[] => [
  { type: 'start', id: answer.id, model: answer.model },
  ...answer.choices.flatMap(choiceSteps),
  ...(answer.usage ? [{ type: 'usage', usage: answer.usage } as const] : []),
];

function choiceSteps(answered: AnswerChoice): AnswerEvent[] {
  const { index: choice, parts, annotations, finish, providerFinish, stopSequence } = answered;
  const lastText = parts.findLastIndex(({ type }) => type === 'text');
  let logprobs = answered.logprobs;
  let call = 0;
  const events: AnswerEvent[] = [];
  for (const [index, part] of parts.entries()) {
    if (part.type === 'tool-call') {
      const { id, name, signature } = part;
      events.push({ type: 'tool-call', choice, call, id, name, signature });
      events.push({ type: 'arguments', choice, call, text: part.arguments });
      call++;
    } else if (part.type === 'text') {
      events.push({ type: 'text', choice, text: part.text, ...(logprobs ? { logprobs } : {}) });
      logprobs = null;
    } else {
      events.push(...partSteps(part, choice));
    }
    // Sources are told by their place in the text, so the text comes first.
    if (index === lastText && annotations.length > 0) events.push({ type: 'annotations', choice, annotations });
  }
  events.push({ type: 'finish', choice, reason: finish, providerReason: providerFinish, stopSequence });
  return events;
}

function partSteps(part: Exclude<AnswerPart, { type: 'text' | 'tool-call' }>, choice: number): AnswerEvent[] {
  switch (part.type) {
    case 'thinking':
      return [
        ...(part.text === '' ? [] : [{ type: 'thinking', choice, text: part.text } as const]),
        ...(part.signature === null ? [] : [{ type: 'signature', choice, signature: part.signature } as const]),
      ];
    case 'redacted-thinking':
      return [{ type: 'redacted-thinking', choice, content: part.content }];
    case 'refusal':
      return [{ type: 'refusal', choice, text: part.text }];
    case 'media':
      return [{ type: 'media', choice, media: part }];
    case 'block':
      return [{ type: 'block', choice, block: part.block }];
  }
}
