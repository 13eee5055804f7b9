/** The output of a batch: the batch names its file, or the blob of the customer's storage that it was written to. */
import { EncodedBody } from '../encoded-body.ts';
import { ProviderFault } from '../faults.ts';
import { textOf } from '../json.ts';
import type { CallFacts, JsonObject, ProviderCall, RawAnswer, Steps } from '../provider.ts';
import { asked } from '../stepping.ts';
import { storageAuthentication } from './access.ts';
import { resourcePath } from './named.ts';

export const batchOutput: Steps = function* (facts) {
  const batch = yield* asked(get(facts, '/batches/:id', facts.pathParams.id ?? ''));
  const [content] = yield { calls: [contentOf(batch, facts)] };
  return rows(content);
};

/** Where a batch has no output, what went wrong with its rows stands in its place. */
function contentOf(batch: JsonObject, facts: CallFacts): ProviderCall {
  const file = textOf(batch.output_file_id) || textOf(batch.error_file_id);
  if (file) return get(facts, '/files/:id/content', file);
  const blob = textOf(batch.output_blob) || textOf(batch.error_blob);
  if (blob) return blobAt(blob, facts);
  throw new ProviderFault(404, `the batch has no output yet; it is ${textOf(batch.status)}`);
}

const get = (facts: CallFacts, path: string, id: string): ProviderCall => ({
  method: 'GET',
  path: resourcePath(path)({ ...facts, pathParams: { id } }),
});

const storageVersion = '2021-12-02';

/** Storage knows no keys of the resource: only an application of the customer's can read there. */
function blobAt(blob: string, facts: CallFacts): ProviderCall {
  const authentication = storageAuthentication(facts);
  if (!authentication || !isStorage(blob, facts)) {
    throw new ProviderFault(404, `the batch writes its output to ${blob}: read it there`);
  }
  const date = new Date(facts.now() * 1000).toUTCString();
  return { method: 'GET', path: blob, authentication, headers: { 'x-ms-version': storageVersion, 'x-ms-date': date } };
}

const blobHost = /^[a-z0-9]{3,24}\.blob\.core\.(?:windows\.net|usgovcloudapi\.net|chinacloudapi\.cn)$/;

/** A token for storage is shown to storage alone, whatever an answer says; a custom host stands for that, too. */
function isStorage(blob: string, { customHost }: CallFacts): boolean {
  const url = URL.parse(blob);
  if (!url) return false;
  if (url.protocol === 'https:' && blobHost.test(url.hostname)) return true;
  return customHost !== null && URL.parse(customHost)?.origin === url.origin;
}

const rows = (content: RawAnswer | undefined): EncodedBody =>
  new EncodedBody('application/jsonl', Buffer.from(content?.bytes ?? []));
