/** The rows of a batch: OpenAI's in, Gemini's out, and back. */
import { type BatchRow, chatPath } from '../batch-rows.ts';
import { RequestFault } from '../faults.ts';
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
  const model = (textOf(body.model) ?? facts.model).replace(/^@[^/]+\//, '');
  const rowFacts: CallFacts = { ...facts, kind: 'chatComplete', model, stream: false, body };
  try {
    return writeRequest(chatFront.read(rowFacts), rowFacts, surface);
  } catch (fault) {
    if (fault instanceof RequestFault) throw new RequestFault('file', `the row "${customId}": ${fault.message}`);
    throw fault;
  }
}

/** The answer to a row, or the fault that it met. */
export function answerRow(customId: unknown, answer: unknown, fault: unknown, facts: CallFacts): JsonObject {
  const id = facts.newId('batch_req_');
  if (isObject(answer) && (objectsOf(answer.candidates).length > 0 || isObject(answer.promptFeedback))) {
    const body = chatFront.write(readAnswer(answer, facts), facts);
    return { id, custom_id: customId, response: { status_code: 200, request_id: body.id, body }, error: null };
  }
  const { code, status, message } = isObject(fault) ? fault : { code: null, status: null, message: fault };
  const said = textOf(message) || 'the row was not answered';
  return {
    id,
    custom_id: customId,
    response: null,
    error: { code: wordOf(status ?? code ?? 'failed'), message: said },
  };
}

/** Counts are written as text. */
export const countIn = (value: unknown): number => countOf(Number(value ?? 0));
