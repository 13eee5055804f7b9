/** Files that are objects of a cloud's storage: their ids are their addresses, encoded. */
import { EncodedBody } from './encoded-body.ts';
import { MissingFault, RequestFault } from './faults.ts';
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
  /** The address that an id stands for: an object of the caller's. */
  objectUri(id: string, field: string, facts: CallFacts): string;
  /** Whether an address lies in the caller's part of the storage. */
  isOwn(uri: string, facts: CallFacts): boolean;
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

/** An address of any storage that lies in the part of it that is the caller's. */
export function isOwnObject(uri: string, facts: CallFacts): boolean {
  const own = facts.storage();
  if (!own) return true;
  const [, bucket = '', key = ''] = /^[a-z0-9]+:\/\/([^/]+)\/(.+)$/.exec(uri) ?? [];
  return own.allows(bucket) && key.startsWith(own.folder) && !climbs(key);
}

/**
 * Whether a model may be given an address of the storage to read. A tenant's own credential reads what it may, except
 * for what other workspaces keep; the gateway's own identity reads only what is the caller's.
 */
export function mayBeRead(uri: string, facts: CallFacts): boolean {
  const own = facts.storage();
  if (!own || isOwnObject(uri, facts)) return true;
  const [, key = null] = /^[a-z0-9]+:\/\/[^/]+\/(.+)$/i.exec(uri) ?? [];
  // What is no address of an object might still be read as one.
  return !own.lent && key !== null && !key.startsWith(keptFolder) && !climbs(key);
}

/** Files of all workspaces lie below it. */
const keptFolder = 'gw/';

/** Connections would resolve such names without a word. */
const climbs = (key: string): boolean => key.split('/').some((part) => part === '.' || part === '..');

/** In a folder of its own below the caller's, so that two uploads of one name are two files. */
function placedKey(bucket: string, key: string, facts: CallFacts): string {
  const own = facts.storage();
  if (!own) return key;
  if (!own.allows(bucket)) {
    throw new RequestFault(
      'file',
      `no files are kept in the bucket ${bucket}: the integration names another, or GW_CLOUD_IDENTITY_BUCKETS does not list it`,
    );
  }
  const name = key.split('/').at(-1) ?? '';
  return `${own.folder}${facts.newId('')}/${name === '' || climbs(name) ? 'file' : name}`;
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
  function objectUri(id: string, field: string, facts: CallFacts): string {
    const uri = [id, decoded(id), decoded(decoded(id))].find((each) => each.startsWith(root));
    if (!uri) throw new RequestFault(field, `${field} must be the encoded address of an object: ${root}bucket/name`);
    if (!isOwn(uri, facts)) throw new MissingFault('file', field);
    return uri;
  }

  const isOwn = (uri: string, facts: CallFacts): boolean => uri.startsWith(root) && isOwnObject(uri, facts);

  function objectAddress(uri: string, facts: CallFacts): string {
    const [, bucket = '', key = ''] = /^[^/]*:\/\/([^/]+)\/(.+)$/.exec(uri) ?? [];
    if (uri.startsWith(root) && storage.bucketName.test(bucket) && key !== '' && !climbs(key)) {
      return storage.address({ bucket, key }, facts);
    }
    throw new RequestFault('file_id', `${uri.slice(0, 200)} is not the address of an object`);
  }

  const uriOf = (facts: CallFacts): string => objectUri(facts.pathParams.id ?? '', 'file_id', facts);
  const path = (facts: CallFacts): string => objectAddress(uriOf(facts), facts);

  /** Rows of OpenAI's become rows of the model's; any other file is stored as it is. */
  const uploadFile: Steps = function* (facts) {
    const file = facts.files.get('file');
    if (!file) throw new RequestFault('file', 'file is missing');
    const purpose = textOf(facts.body.purpose) ?? 'batch';
    const { bucket, key } = storage.place(file, facts);
    const uri = `${root}${bucket}/${placedKey(bucket, key, facts)}`;
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

  return { objectUri, isOwn, objectAddress, uploadFile, retrieveFile, fileContent: { path } };
}
