/** Files of Vertex AI: objects of Cloud Storage. */
import { type BatchRow, embeddingsPath, rowsIn, writtenRows } from '../batch-rows.ts';
import { RequestFault } from '../faults.ts';
import { rowRequest } from '../google/batch-rows.ts';
import { textOf } from '../json.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import { needSetting, setting } from '../settings.ts';
import { storedFiles } from '../stored-files.ts';
import { anthropicRow } from './anthropic.ts';
import { vertexModel } from './model.ts';
import { atService } from './place.ts';

const batchRows = (content: string, facts: CallFacts): Uint8Array<ArrayBuffer> =>
  writtenRows(rowsIn(content).map((row) => rowOf(row, facts)));

/** Each publisher wants rows of its own. */
function rowOf(row: BatchRow, facts: CallFacts): JsonObject {
  const { customId, url, body } = row;
  const model = facts.permittedModel(textOf(body.model) ?? facts.model, `the row "${customId}"`);
  if (url === embeddingsPath) return { content: body.input, requestId: customId };
  const { kind } = vertexModel(model);
  if (kind === 'anthropic') return { custom_id: customId, request: anthropicRow(row, { ...facts, model }) };
  if (kind === 'google') return { request: rowRequest(row, facts, 'vertex'), requestId: customId };
  throw new RequestFault(
    'file',
    `the row "${customId}" names ${model}: batches here are for Google’s models and Claude`,
  );
}

export const { objectUri, isOwn, objectAddress, uploadFile, retrieveFile, fileContent } = storedFiles({
  scheme: 'gs',
  bucketName: /^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/,
  address: ({ bucket, key }, facts) => {
    const path = key.split('/').map(encodeURIComponent).join('/');
    return atService(facts, 'storage.googleapis.com', `/${bucket}/${path}`);
  },
  place: ({ filename }, { fields }) => ({
    bucket: needSetting(fields, 'vertex_storage_bucket_name'),
    key: setting(fields, 'provider_file_name', 'filename') ?? filename,
  }),
  batchRows,
  sizeHeader: 'x-goog-stored-content-length',
});
