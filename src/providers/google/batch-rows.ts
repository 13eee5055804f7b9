/** The rows of a batch: OpenAI's in, Gemini's out, and back. */
import { askedInRow, type BatchRow, chatPath } from '../batch-rows.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { chatFront } from '../fronts/chat/chat.ts';
import { countOf, isObject, objectsOf, textOf, wordOf } from '../json.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import { readAnswer } from './answer.ts';
import { writeRequest } from './request.ts';
import type { Surface } from './surface.ts';

/** The request of a row of chat completions. */
export function rowRequest({ body, url, customId }: BatchRow, facts: CallFacts, surface: Surface): JsonObject {
  if (url !== chatPath)
    throw new RequestFault('file', `the row "${customId}" asks for ${url}, which has no batches here`);
  const model = facts.permittedModel(textOf(body.model) ?? facts.model, `the row "${customId}"`);
  const rowFacts: CallFacts = { ...facts, kind: 'chatComplete', model, stream: false, body };
  return askedInRow(customId, () => writeRequest(chatFront.read(rowFacts), rowFacts, surface));
}

/** The answer to a row, as a chat completion. */
export function answerOf(answer: unknown, fault: unknown, facts: CallFacts): JsonObject {
  if (isObject(answer) && (objectsOf(answer.candidates).length > 0 || isObject(answer.promptFeedback))) {
    return chatFront.write(readAnswer(answer, facts), facts);
  }
  const { code, status, message } = isObject(fault) ? fault : { code: null, status: null, message: fault };
  const said = textOf(message) || 'the row was not answered';
  throw new ProviderFault(502, said, { code: wordOf(status ?? code ?? 'failed') });
}

/** Counts are written as text. */
export const countIn = (value: unknown): number => countOf(Number(value ?? 0));
