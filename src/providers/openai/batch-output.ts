/** The output of a batch: the batch names its file; where it has none, the file of what went wrong stands in its place. */
import { EncodedBody } from '../encoded-body.ts';
import { ProviderFault } from '../faults.ts';
import { textOf } from '../json.ts';
import type { Steps } from '../provider.ts';
import { asked } from '../stepping.ts';

export const batchOutput: Steps = function* ({ pathParams }) {
  const batch = yield* asked({ method: 'GET', path: `/batches/${encodeURIComponent(pathParams.id ?? '')}` });
  const file = textOf(batch.output_file_id) || textOf(batch.error_file_id);
  if (!file) throw new ProviderFault(404, `the batch has no output yet; it is ${textOf(batch.status)}`);
  const [content] = yield { calls: [{ method: 'GET', path: `/files/${encodeURIComponent(file)}/content` }] };
  return new EncodedBody('application/jsonl', Uint8Array.from(content?.bytes ?? []));
};
