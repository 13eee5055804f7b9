/** Files of Fireworks are datasets: made first, filled at an address that is asked for, and checked before they can be used. */
import { EncodedBody } from '../encoded-body.ts';
import type { EndpointKind } from '../endpoints.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { isObject, listOf, objectOf, parsed, present, secondsOf, textOf } from '../json.ts';
import { listing } from '../listing.ts';
import type { CallFacts, JsonObject, ProviderEndpoint, SentFile, Steps } from '../provider.ts';
import { asked, polled } from '../stepping.ts';
import { accountPath, bareId } from './fireworks-account.ts';

const kind = 'datasets';
const at = (facts: CallFacts): string => accountPath(facts, kind, facts.pathParams.id ?? '');

function fileAnswer(dataset: JsonObject, bytes = 0, purpose = 'fine-tune'): JsonObject {
  const { code, message } = objectOf(dataset.status);
  const failed = code !== undefined && code !== 'OK';
  return {
    id: bareId(dataset.name),
    object: 'file',
    bytes,
    created_at: secondsOf(dataset.createTime),
    filename: textOf(dataset.displayName) || bareId(dataset.name),
    purpose,
    status: failed ? 'error' : dataset.state === 'READY' ? 'processed' : 'uploaded',
    status_details: failed ? textOf(message) : null,
  };
}

/** What Fireworks wants to know of a dataset before it has it. */
function announced({ filename, bytes }: SentFile, datasetId: string): JsonObject {
  const lines = new TextDecoder()
    .decode(bytes)
    .split('\n')
    .filter((line) => line.trim() !== '');
  const [first] = lines;
  if (first === undefined || !isObject(parsed(first))) {
    throw new RequestFault('file', 'file must hold lines of JSON: Fireworks keeps datasets only');
  }
  const isChat = listOf(objectOf(parsed(first)).messages).length > 0;
  return {
    datasetId,
    dataset: present({
      displayName: filename,
      exampleCount: String(lines.length),
      userUploaded: {},
      format: isChat ? 'CHAT' : null,
    }),
  };
}

const uploadFile: Steps = function* (facts) {
  const file = facts.files.get('file');
  if (!file) throw new RequestFault('file', 'file is missing');
  const id = facts.newId('file-');
  const path = accountPath(facts, kind, id);
  yield* asked({ method: 'POST', path: accountPath(facts, kind), body: announced(file, id) });
  const size = file.bytes.length;
  const { filenameToSignedUrls } = yield* asked({
    method: 'POST',
    path: `${path}:getUploadEndpoint`,
    body: { filenameToSize: { [file.filename]: String(size) } },
  });
  const address = textOf(objectOf(filenameToSignedUrls)[file.filename]);
  if (address === null) throw new ProviderFault(502, 'the answer names no address for the upload');
  const content = new EncodedBody('application/octet-stream', Buffer.from(file.bytes));
  // The address is signed for exactly this many bytes.
  const headers = { 'x-goog-content-length-range': `${size},${size}` };
  yield { calls: [{ method: 'PUT', path: address, bare: true, headers, body: content }] };
  yield { calls: [{ method: 'POST', path: `${path}:validateUpload`, body: {} }] };
  const dataset = yield* polled({ method: 'GET', path }, checked);
  return fileAnswer(dataset, size, textOf(facts.body.purpose) ?? 'fine-tune');
};

/** Null while Fireworks still looks at it. */
function checked(dataset: JsonObject): JsonObject | null {
  const { code, message } = objectOf(dataset.status);
  if (code !== undefined && code !== 'OK') {
    throw new ProviderFault(400, textOf(message) ?? 'the dataset was refused', { code: textOf(code) });
  }
  return dataset.state === 'READY' ? dataset : null;
}

const listFiles: Steps = (facts) =>
  listing(facts, accountPath(facts, kind), 'datasets', (dataset) => fileAnswer(dataset));

const retrieveFile: ProviderEndpoint = {
  path: at,
  translation: { response: (answer) => fileAnswer(objectOf(answer)) },
};

const deleteFile: ProviderEndpoint = {
  path: at,
  translation: { response: (_, { pathParams }) => ({ id: pathParams.id, object: 'file', deleted: true }) },
};

export const fileEndpoints = {
  uploadFile: { steps: uploadFile },
  listFiles: { steps: listFiles },
  retrieveFile,
  deleteFile,
} satisfies Partial<Record<EndpointKind, ProviderEndpoint>>;
