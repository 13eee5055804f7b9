/** The rows of a batch, each a line of JSON: OpenAI's, as a client uploads them, and those of any provider. */
import { RequestFault } from './faults.ts';
import { isObject, objectOf, parsed, textOf } from './json.ts';
import type { JsonObject, RawAnswer } from './provider.ts';

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

/** The lines of a file that a provider wrote. */
export const linesIn = (answer: RawAnswer | undefined): JsonObject[] =>
  new TextDecoder()
    .decode(answer?.bytes)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => objectOf(parsed(line)));

export const writtenRows = (rows: readonly JsonObject[]): Uint8Array<ArrayBuffer> =>
  Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
