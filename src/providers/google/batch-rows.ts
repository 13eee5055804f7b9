/** The rows of a batch: OpenAI's in, Gemini's out, and back. */
import { RequestFault } from '../faults.ts';
import { chatFront } from '../fronts/chat/chat.ts';
import { isObject, objectOf, objectsOf, parsed, textOf, wordOf } from '../json.ts';
import type { CallFacts, JsonObject, RawAnswer } from '../provider.ts';
import { readAnswer } from './answer.ts';
import { writeRequest } from './request.ts';
import type { Surface } from './surface.ts';

export interface BatchRow {
  customId: string;
  url: string;
  body: JsonObject;
}

/** A line that is no row is refused by its number: nothing is left out in silence. */
export const rowsIn = (content: string): BatchRow[] =>
  content
    .split('\n')
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== '')
    .map(({ line, number }) => {
      const row = parsed(line);
      const customId = textOf(objectOf(row).custom_id);
      const body = objectOf(row).body;
      if (customId === null || !isObject(body)) {
        throw new RequestFault('file', `line ${number} is not a row of a batch: it needs custom_id and body`);
      }
      return { customId, url: textOf(objectOf(row).url) ?? chatPath, body };
    });

export const chatPath = '/v1/chat/completions';
export const embeddingsPath = '/v1/embeddings';

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

export const linesIn = (answer: RawAnswer | undefined): JsonObject[] =>
  new TextDecoder()
    .decode(answer?.bytes)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => objectOf(parsed(line)));

export const writtenRows = (rows: readonly JsonObject[]): Uint8Array<ArrayBuffer> =>
  Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
