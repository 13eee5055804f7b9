/** Files of AI Studio: an upload asks for an address first and brings the bytes there; what a model made can be read again. */

import { rowsIn, writtenRows } from '../batch-rows.ts';
import { EncodedBody } from '../encoded-body.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { countOf, objectIn, objectOf, secondsOf, textOf } from '../json.ts';
import { listing } from '../listing.ts';
import type { CallFacts, JsonObject, ProviderEndpoint, Steps } from '../provider.ts';
import { rowRequest } from './batch-rows.ts';

const files = '/v1beta/files';

/** `files/abc` is the file `abc`. */
export const bareId = (name: unknown): string => (textOf(name) ?? '').replace(/^files\//, '');
const at = ({ pathParams }: CallFacts): string => `${files}/${encodeURIComponent(bareId(pathParams.id))}`;

const states: ReadonlyMap<string, string> = new Map(Object.entries({ PROCESSING: 'uploaded', FAILED: 'error' }));

const fileAnswer = (file: JsonObject, purpose = 'user_data'): JsonObject => ({
  id: bareId(file.name),
  object: 'file',
  bytes: countOf(Number(file.sizeBytes ?? 0)),
  created_at: secondsOf(file.createTime),
  expires_at: secondsOf(file.expirationTime),
  filename: textOf(file.displayName) ?? bareId(file.name),
  purpose,
  status: states.get(textOf(file.state) ?? '') ?? 'processed',
  status_details: textOf(objectOf(file.error).message),
});

/** Rows of OpenAI's become Gemini's; any other file is kept as it is. */
function contentOf(facts: CallFacts, purpose: string): { name: string; type: string; bytes: Uint8Array<ArrayBuffer> } {
  const file = facts.files.get('file');
  if (!file) throw new RequestFault('file', 'file is missing');
  const { filename: name, contentType } = file;
  if (purpose !== 'batch') return { name, type: contentType, bytes: Buffer.from(file.bytes) };
  const rows = rowsIn(new TextDecoder().decode(file.bytes)).map((row) => ({
    key: row.customId,
    request: rowRequest(row, facts, 'studio'),
  }));
  return { name, type: 'application/jsonl', bytes: writtenRows(rows) };
}

export const uploadFile: Steps = function* (facts) {
  const purpose = textOf(facts.body.purpose) ?? 'user_data';
  const { name, type, bytes } = contentOf(facts, purpose);
  const [begun] = yield {
    calls: [
      {
        method: 'POST',
        path: `/upload${files}`,
        headers: {
          'x-goog-upload-protocol': 'resumable',
          'x-goog-upload-command': 'start',
          'x-goog-upload-header-content-length': String(bytes.length),
          'x-goog-upload-header-content-type': type,
        },
        body: { file: { displayName: name } },
      },
    ],
  };
  const address = begun?.headers.get('x-goog-upload-url');
  if (!address) throw new ProviderFault(502, 'the answer names no address for the upload');
  const [done] = yield {
    calls: [
      {
        method: 'POST',
        path: address,
        bare: true,
        headers: { 'x-goog-upload-offset': '0', 'x-goog-upload-command': 'upload, finalize' },
        body: new EncodedBody(type, bytes),
      },
    ],
  };
  return fileAnswer(objectOf(objectIn(done?.bytes).file), purpose);
};

export const listFiles: Steps = (facts) => listing(facts, files, 'files', (file) => fileAnswer(file));

export const retrieveFile: ProviderEndpoint = {
  path: at,
  translation: { response: (answer) => fileAnswer(objectOf(answer)) },
};

export const deleteFile: ProviderEndpoint = {
  path: at,
  translation: { response: (_, { pathParams }) => ({ id: bareId(pathParams.id), object: 'file', deleted: true }) },
};

export const contentPath = (id: string): string => `/download${files}/${encodeURIComponent(id)}:download?alt=media`;

export const fileContent: ProviderEndpoint = { path: ({ pathParams }) => contentPath(bareId(pathParams.id)) };
