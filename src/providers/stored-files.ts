/** Files that are objects of a cloud's storage: their ids are their addresses, encoded. */
import { EncodedBody } from './encoded-body.ts';
import { RequestFault } from './faults.ts';
import { secondsOf, textOf } from './json.ts';
import type { CallFacts, JsonObject, ProviderCall, ProviderEndpoint, SentFile, Steps } from './provider.ts';

interface ObjectStorage {
  scheme: 's3' | 'gs';
  bucketName: RegExp;
  /** Where an object lies at the service. */
  address(object: { bucket: string; key: string }, facts: CallFacts): string;
  /** Where a new file is to lie. */
  place(file: SentFile, facts: CallFacts): { bucket: string; key: string };
  /** OpenAI's rows of a batch, as the models here want them. */
  batchRows(content: string, facts: CallFacts): Uint8Array<ArrayBuffer>;
  /** What the upload needs besides its address and its bytes. */
  upload?(facts: CallFacts): Pick<ProviderCall, 'headers' | 'authentication'>;
  /** A header that tells the size better than the length of the answer does. */
  sizeHeader?: string;
}

interface StoredFiles {
  /** The address that an id stands for. */
  objectUri(id: string, field: string): string;
  objectAddress(uri: string, facts: CallFacts): string;
  uploadFile: Steps;
  retrieveFile: ProviderEndpoint;
  fileContent: ProviderEndpoint;
}

export const fileId = (uri: string): string => encodeURIComponent(uri);

/** As it is where it is not encoded. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

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

export function storedFiles(storage: ObjectStorage): StoredFiles {
  const root = `${storage.scheme}://`;

  /** Clients encode an id once more for the path; some do not. */
  function objectUri(id: string, field: string): string {
    const uri = [id, decoded(id), decoded(decoded(id))].find((each) => each.startsWith(root));
    if (uri) return uri;
    throw new RequestFault(field, `${field} must be the encoded address of an object: ${root}bucket/name`);
  }

  function objectAddress(uri: string, facts: CallFacts): string {
    const [, bucket = '', key = ''] = /^[^/]*:\/\/([^/]+)\/(.+)$/.exec(uri) ?? [];
    if (uri.startsWith(root) && storage.bucketName.test(bucket) && key !== '') {
      return storage.address({ bucket, key }, facts);
    }
    throw new RequestFault('file_id', `${uri.slice(0, 200)} is not the address of an object`);
  }

  const uriOf = ({ pathParams }: CallFacts): string => objectUri(pathParams.id ?? '', 'file_id');
  const path = (facts: CallFacts): string => objectAddress(uriOf(facts), facts);

  /** Rows of OpenAI's become rows of the model's; any other file is stored as it is. */
  const uploadFile: Steps = function* (facts) {
    const file = facts.files.get('file');
    if (!file) throw new RequestFault('file', 'file is missing');
    const purpose = textOf(facts.body.purpose) ?? 'batch';
    const { bucket, key } = storage.place(file, facts);
    const uri = `${root}${bucket}/${key}`;
    const isBatch = purpose === 'batch';
    const content = isBatch ? storage.batchRows(new TextDecoder().decode(file.bytes), facts) : Buffer.from(file.bytes);
    const body = new EncodedBody(isBatch ? 'application/jsonl' : file.contentType, content);
    yield { calls: [{ method: 'PUT', path: objectAddress(uri, facts), ...storage.upload?.(facts), body }] };
    return fileAnswer(uri, content.length, facts.now(), purpose);
  };

  const retrieveFile: ProviderEndpoint = {
    method: 'HEAD',
    path,
    translation: {
      takes: 'bytes',
      response: (_, facts, { headers }) => {
        const told = storage.sizeHeader === undefined ? null : headers.get(storage.sizeHeader);
        const bytes = Number(told ?? headers.get('content-length') ?? 0);
        return fileAnswer(uriOf(facts), bytes, secondsOf(headers.get('last-modified')) ?? 0, 'batch');
      },
    },
  };

  return { objectUri, objectAddress, uploadFile, retrieveFile, fileContent: { path } };
}
