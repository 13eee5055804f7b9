/** An upload for a provider that keeps it in another form: it is read whole, where others are carried through as they come. */
import type { MaybePromise } from '../../maybe-promise.ts';
import type { Operation } from '../attempt/operation.ts';
import type { RequestContext } from '../context.ts';
import { type Bytes, readBytes } from '../request/body.ts';
import { readFormFields, readFormFiles } from '../request/form.ts';

const isForm = (contentType: string | null): contentType is string =>
  contentType?.toLowerCase().startsWith('multipart/form-data') ?? false;

/** The very same operation, unless it takes the form apart. */
export function withUpload({ body }: RequestContext, operation: Operation, limit: number): MaybePromise<Operation> {
  if (body.form !== 'stream' || !operation.endpoint.steps || !isForm(body.contentType)) return operation;
  return takenApart(operation, body.stream, body.contentType, limit);
}

async function takenApart(
  operation: Operation,
  stream: ReadableStream<Bytes>,
  contentType: string,
  limit: number,
): Promise<Operation> {
  const bytes = await readBytes(stream.getReader(), limit);
  const body = Object.fromEntries(readFormFields(bytes, contentType).map(({ name, value }) => [name, value]));
  return { ...operation, facts: { ...operation.facts, body, files: readFormFiles(bytes, contentType) } };
}
