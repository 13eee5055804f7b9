/** Files of Vertex AI: objects of Cloud Storage. */
import { embeddingsPath, rowsIn, writtenRows } from '../batch-rows.ts';
import { RequestFault } from '../faults.ts';
import { rowRequest } from '../google/batch-rows.ts';
import { textOf } from '../json.ts';
import type { CallFacts } from '../provider.ts';
import { needSetting, setting } from '../settings.ts';
import { storedFiles } from '../stored-files.ts';
import { vertexModel } from './model.ts';
import { atService } from './place.ts';

function batchRows(content: string, facts: CallFacts): Uint8Array<ArrayBuffer> {
  const rows = rowsIn(content).map((row) => {
    const model = textOf(row.body.model) ?? '';
    if (row.url === embeddingsPath) return { content: row.body.input, requestId: row.customId };
    if (vertexModel(model.replace(/^@[^/]+\//, '')).kind !== 'google') {
      throw new RequestFault('file', `the row "${row.customId}" names ${model}: batches here are for Google’s models`);
    }
    return { request: rowRequest(row, facts, 'vertex'), requestId: row.customId };
  });
  return writtenRows(rows);
}

export const { objectUri, objectAddress, uploadFile, retrieveFile, fileContent } = storedFiles({
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
