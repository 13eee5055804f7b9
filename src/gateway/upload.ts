/** An upload for a provider that keeps it in another form: it is read whole, where others are carried through as they come. */
import { readBytes } from './body.ts';
import { readFormFields, readFormFiles } from './form.ts';
import type { Journey } from './journey.ts';
import type { Operation } from './operation.ts';

const isForm = (contentType: string | null): contentType is string =>
  contentType?.toLowerCase().startsWith('multipart/form-data') ?? false;

/** The very same operation, unless it takes the form apart. */
export function withUpload(
  { body, request }: Journey,
  operation: Operation,
  limit: number,
): Operation | Promise<Operation> {
  if (body.form !== 'stream' || !operation.endpoint.steps || !isForm(body.contentType)) return operation;
  const { contentType } = body;
  // Of a body that was looked into, only what replays it can still be read.
  const unread =
    body.stream === request.body ? request : new Request(request.url, { method: 'POST', body: body.stream });
  return readBytes(unread, limit).then((bytes) => ({
    ...operation,
    facts: {
      ...operation.facts,
      body: Object.fromEntries(readFormFields(bytes, contentType).map(({ name, value }) => [name, value])),
      files: readFormFiles(bytes, contentType),
    },
  }));
}
