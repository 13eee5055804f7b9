/** Files of Vertex AI: objects of Cloud Storage, whose ids are their addresses, encoded. */
import { EncodedBody } from '../encoded-body.ts';
import { RequestFault } from '../faults.ts';
import { embeddingsPath, rowRequest, rowsIn, writtenRows } from '../google/batch-rows.ts';
import { textOf } from '../json.ts';
import type { CallFacts, JsonObject, ProviderEndpoint, SentFile, Steps } from '../provider.ts';
import { needSetting, setting } from '../settings.ts';
import { vertexModel } from './model.ts';
import { atService } from './place.ts';

export const fileId = (uri: string): string => encodeURIComponent(uri);

/** Clients encode an id once more for the path; some do not. */
export function objectUri(id: string, field: string): string {
  const uri = [id, decoded(id), decoded(decoded(id))].find((each) => each.startsWith('gs://'));
  if (uri) return uri;
  throw new RequestFault(field, `${field} must be the encoded address of an object: gs://bucket/name`);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const bucketName = /^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/;

/** Where the object lies at the storage service. */
export function objectPath(uri: string, facts: CallFacts): string {
  const [, bucket = '', name = ''] = /^gs:\/\/([^/]+)\/(.+)$/.exec(uri) ?? [];
  if (!bucketName.test(bucket) || name === '') {
    throw new RequestFault('file_id', `${uri.slice(0, 200)} is not the address of an object`);
  }
  const path = name.split('/').map(encodeURIComponent).join('/');
  return atService(facts, 'storage.googleapis.com', `/${bucket}/${path}`);
}

const uriOf = ({ pathParams }: CallFacts): string => objectUri(pathParams.id ?? '', 'file_id');

const fileAnswer = (uri: string, bytes: number, createdAt: number, purpose: string): JsonObject => ({
  id: fileId(uri),
  object: 'file',
  bytes,
  created_at: createdAt,
  filename: uri.split('/').at(-1) ?? '',
  purpose,
  status: 'processed',
  status_details: null,
});

/** Rows of OpenAI's become rows of the model's; any other file is stored as it is. */
export const uploadFile: Steps = function* (facts) {
  const file = facts.files.get('file');
  if (!file) throw new RequestFault('file', 'file is missing');
  const purpose = textOf(facts.body.purpose) ?? 'batch';
  const bucket = needSetting(facts.fields, 'vertex_storage_bucket_name');
  const name = setting(facts.fields, 'provider_file_name', 'filename') ?? file.filename;
  const uri = `gs://${bucket}/${name}`;
  const content = purpose === 'batch' ? batchRows(file, facts) : Buffer.from(file.bytes);
  const body = new EncodedBody(purpose === 'batch' ? 'application/jsonl' : file.contentType, content);
  yield { calls: [{ method: 'PUT', path: objectPath(uri, facts), body }] };
  return fileAnswer(uri, content.length, facts.now(), purpose);
};

function batchRows(file: SentFile, facts: CallFacts): Uint8Array<ArrayBuffer> {
  const rows = rowsIn(new TextDecoder().decode(file.bytes)).map((row) => {
    const model = textOf(row.body.model) ?? '';
    if (row.url === embeddingsPath) return { content: row.body.input, requestId: row.customId };
    if (vertexModel(model.replace(/^@[^/]+\//, '')).kind !== 'google') {
      throw new RequestFault('file', `the row "${row.customId}" names ${model}: batches here are for Google’s models`);
    }
    return { request: rowRequest(row, facts, 'vertex'), requestId: row.customId };
  });
  return writtenRows(rows);
}

export const retrieveFile: ProviderEndpoint = {
  method: 'HEAD',
  path: (facts) => objectPath(uriOf(facts), facts),
  translation: {
    takes: 'bytes',
    response: (_, facts, { headers }) => {
      const bytes = Number(headers.get('x-goog-stored-content-length') ?? headers.get('content-length') ?? 0);
      const changed = Date.parse(headers.get('last-modified') ?? '');
      return fileAnswer(uriOf(facts), bytes, Number.isNaN(changed) ? 0 : Math.floor(changed / 1000), 'batch');
    },
  },
};

export const fileContent: ProviderEndpoint = { path: (facts) => objectPath(uriOf(facts), facts) };
