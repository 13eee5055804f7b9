/** The rows of a batch, each a line of JSON: OpenAI's, as a client uploads them, and those of any provider. */
import { EncodedBody } from './encoded-body.ts';
import { ProviderFault, RequestFault } from './faults.ts';
import { isObject, objectOf, parsed, textOf } from './json.ts';
import type { CallFacts, JsonObject, RawAnswer } from './provider.ts';

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

/** How the lines of a provider's output are read. */
interface OutputLines {
  customId(line: JsonObject): unknown;
  /** The answer to the row; a fault of the provider's is thrown. */
  answer(line: JsonObject): JsonObject;
}

/** A file that a provider wrote, as one of OpenAI's: each line becomes a row. */
export const outputFile = (file: RawAnswer | undefined, facts: CallFacts, lines: OutputLines): EncodedBody =>
  outputRows(
    new TextDecoder()
      .decode(file?.bytes)
      .split('\n')
      .filter((text) => text.trim() !== '')
      .map((text) => lineRow(text, facts, lines)),
  );

export const outputRows = (rows: readonly JsonObject[]): EncodedBody =>
  new EncodedBody('application/octet-stream', writtenRows(rows));

function lineRow(text: string, facts: CallFacts, { customId, answer }: OutputLines): JsonObject {
  const line = parsed(text);
  if (isObject(line)) return outputRow(customId(line), facts, () => answer(line));
  return outputRow(null, facts, () => {
    throw new ProviderFault(502, `the provider wrote a line that is no answer: ${text.slice(0, longestQuote)}`);
  });
}

const longestQuote = 200;

/** A row of the output. What went wrong with it stands in the row: those beside it were answered, and paid for. */
export function outputRow(customId: unknown, facts: CallFacts, answer: () => JsonObject): JsonObject {
  const row = { id: facts.newId('batch_req_'), custom_id: customId ?? null };
  try {
    const body = answer();
    return { ...row, response: { status_code: 200, request_id: textOf(body.id) ?? row.id, body }, error: null };
  } catch (fault) {
    if (!(fault instanceof ProviderFault)) throw fault;
    const code = fault.code ?? fault.type ?? 'unreadable_answer';
    return { ...row, response: null, error: { code, message: fault.message } };
  }
}

export const writtenRows = (rows: readonly JsonObject[]): Uint8Array<ArrayBuffer> =>
  Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

/** What is wrong with a row of a file is told by the row's id. */
export function askedInRow<T>(customId: string, ask: () => T, field = 'file'): T {
  try {
    return ask();
  } catch (fault) {
    if (fault instanceof RequestFault) throw new RequestFault(field, `the row "${customId}": ${fault.message}`);
    throw fault;
  }
}

/** What the gateway keeps itself has ids of this form. */
export const isKept = (id: string): boolean => id.startsWith('gw_');
