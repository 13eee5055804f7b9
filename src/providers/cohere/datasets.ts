/** Files of Cohere are datasets of texts to be embedded: rows of a batch in, and what an embed job made of them out. */
import { type BatchRow, embeddingsPath, outputRow, outputRows, rowsIn, writtenRows } from '../batch-rows.ts';
import { isVector, readEmbeddings, textsOf, type Vector, writeEmbeddings } from '../embeddings.ts';
import { formBody } from '../encoded-body.ts';
import type { EndpointKind } from '../endpoints.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { countOf, objectOf, objectsOf, secondsOf, textOf } from '../json.ts';
import { listing } from '../listing.ts';
import type { CallFacts, JsonObject, ProviderEndpoint, Steps } from '../provider.ts';
import { asked, type Stepping } from '../stepping.ts';
import { avroRows } from './avro.ts';

const datasets = '/v1/datasets';
export const datasetPath = (id: string): string => `${datasets}/${encodeURIComponent(id)}`;
const at = ({ pathParams }: CallFacts): string => datasetPath(pathParams.id ?? '');

const states: Readonly<Record<string, string>> = { validated: 'processed', skipped: 'processed', failed: 'error' };

const fileAnswer = (dataset: JsonObject): JsonObject => ({
  id: dataset.id,
  object: 'file',
  bytes: objectsOf(dataset.dataset_parts).reduce((sum, part) => sum + countOf(part.size_bytes), 0),
  created_at: secondsOf(dataset.created_at),
  filename: textOf(dataset.name) ?? '',
  purpose: dataset.dataset_type === 'embed-result' ? 'batch_output' : 'batch',
  status: states[textOf(dataset.validation_status) ?? ''] ?? 'uploaded',
  status_details: textOf(dataset.validation_error) || null,
});

/** A job embeds one text a row, all in the same way. */
function textIn({ customId, url, body }: BatchRow, facts: CallFacts): string {
  const refused = (why: string) => new RequestFault('file', `the row "${customId}" ${why}`);
  if (url !== embeddingsPath) {
    throw refused(
      `asks for ${url}: Cohere itself embeds only. Upload the file for the provider gw, which runs all rows`,
    );
  }
  const { inputs, dimensions, encoding, extras } = readEmbeddings({ ...facts, body });
  const [other] = Object.keys(extras);
  if (dimensions !== null || encoding !== 'float') throw refused('asks for dimensions or base64, which a job has not');
  if (other !== undefined) throw refused(`has ${other}: what holds for all rows is said when the batch is made`);
  if (inputs.length !== 1) throw refused('has several inputs: a row is one text');
  return textsOf({ inputs, dimensions, encoding, extras }).join('');
}

/** The batch will name the model; rows that name others would be embedded by the wrong one. */
function requireOneModel(rows: readonly BatchRow[], { permittedModel }: CallFacts): void {
  const named = rows.flatMap(({ body, customId }) =>
    textOf(body.model) ? [permittedModel(textOf(body.model) ?? '', `the row "${customId}"`)] : [],
  );
  if (new Set(named).size > 1)
    throw new RequestFault('file', 'the rows name several models: a batch here is one model’s');
}

const uploadFile: Steps = function* (facts) {
  const file = facts.files.get('file');
  if (!file) throw new RequestFault('file', 'file is missing');
  const purpose = textOf(facts.body.purpose) ?? 'batch';
  if (purpose !== 'batch') throw new RequestFault('purpose', 'purpose must be batch: Cohere keeps rows to embed only');
  const rows = rowsIn(new TextDecoder().decode(file.bytes));
  requireOneModel(rows, facts);
  const bytes = writtenRows(rows.map((row) => ({ text: textIn(row, facts), custom_id: row.customId })));
  const query = new URLSearchParams({ name: file.filename, type: 'embed-input', keep_fields: 'custom_id,id' });
  const { id } = yield* asked({
    method: 'POST',
    path: `${datasets}?${query}`,
    body: formBody(facts.newId('form-'), [
      ['data', { filename: file.filename, contentType: 'application/jsonl', bytes }],
    ]),
  });
  const made = { id, name: file.filename, validation_status: 'queued' };
  return { ...fileAnswer(made), bytes: bytes.length, created_at: facts.now() };
};

/** No answer marks a next page: one of the longest is all there is. */
export const pageWords = { size: 'limit', token: 'offset', next: 'next' };

const listFiles: Steps = (facts) => listing(facts, datasets, 'datasets', fileAnswer, pageWords);

const retrieveFile: ProviderEndpoint = {
  path: at,
  translation: { response: (answer) => fileAnswer(objectOf(objectOf(answer).dataset)) },
};

const deleteFile: ProviderEndpoint = {
  path: at,
  translation: { response: (_, { pathParams }) => ({ id: pathParams.id, object: 'file', deleted: true }) },
};

/** The rows of a dataset, from all of its parts. Their addresses are signed. */
export function* datasetRows(id: string): Stepping<JsonObject[]> {
  const { dataset } = yield* asked({ method: 'GET', path: datasetPath(id) });
  const parts = objectsOf(objectOf(dataset).dataset_parts);
  const answers = yield {
    calls: parts.flatMap(({ url }) => (textOf(url) ? [{ method: 'GET', path: textOf(url) ?? '', bare: true }] : [])),
  };
  return answers.flatMap(({ bytes }) => avroRows(bytes));
}

/** What was embedded is told as a batch tells it; what is still to be embedded, as it is kept. */
const fileContent: Steps = function* (facts) {
  const rows = yield* datasetRows(facts.pathParams.id ?? '');
  return outputRows(rows.map((row) => (vectorIn(row) ? embeddedRow(row, facts) : row)));
};

/** The vector of the row: numbers with fractions where there are several kinds. */
function vectorIn({ embedding, embeddings }: JsonObject): Vector | null {
  const byType = objectOf(embeddings);
  const found = [embedding, embeddings, byType.float, ...Object.values(byType)].find(isVector);
  return found && found.length > 0 ? found : null;
}

/** A row of the output, in OpenAI's form. */
export const embeddedRow = (row: JsonObject, facts: CallFacts): JsonObject =>
  outputRow(row.custom_id, facts, () => {
    const vector = vectorIn(row);
    if (!vector) throw new ProviderFault(502, 'the answer holds no vector');
    return writeEmbeddings(facts, [vector], 'float', null);
  });

export const fileEndpoints = {
  uploadFile: { steps: uploadFile },
  listFiles: { steps: listFiles },
  retrieveFile,
  deleteFile,
  retrieveFileContent: { steps: fileContent },
} satisfies Partial<Record<EndpointKind, ProviderEndpoint>>;
