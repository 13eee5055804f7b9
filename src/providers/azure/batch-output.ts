/** The output of a batch: the batch names its file, the file holds the rows. */
import { EncodedBody } from '../encoded-body.ts';
import { ProviderFault } from '../faults.ts';
import { objectOf, parsed, textOf } from '../json.ts';
import type { CallFacts, ProviderCall, RawAnswer, Steps } from '../provider.ts';
import { resourcePath } from './named.ts';

export const batchOutput: Steps = function* (facts) {
  const [found] = yield { calls: [get(facts, '/batches/:id', facts.pathParams.id ?? '')] };
  const batch = objectOf(parsed(new TextDecoder().decode(found?.bytes)));
  const file = textOf(batch.output_file_id) || textOf(batch.error_file_id);
  if (!file) throw new ProviderFault(404, withoutFile(textOf(batch.output_blob), textOf(batch.status)));
  const [content] = yield { calls: [get(facts, '/files/:id/content', file)] };
  return rows(content);
};

const get = (facts: CallFacts, path: string, id: string): ProviderCall => ({
  method: 'GET',
  path: resourcePath(path)({ ...facts, pathParams: { id } }),
});

const withoutFile = (blob: string | null, status: string | null): string =>
  blob ? `the batch writes its output to ${blob}: read it there` : `the batch has no output yet; it is ${status}`;

const rows = (content: RawAnswer | undefined): EncodedBody =>
  new EncodedBody('application/jsonl', Buffer.from(content?.bytes ?? []));
