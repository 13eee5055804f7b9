/** Takes the vectors out of the answers of embedding calls: they are large, say nothing to a reader, and are never stored. */
import { contentOf } from './content.ts';
import type { KeptBodies, KeptMessage } from './record.ts';

export function withoutVectors(bodies: KeptBodies): KeptBodies {
  const { response, originalResponse, ...rest } = bodies;
  return {
    ...rest,
    ...(response && { response: stripped(response) }),
    ...(originalResponse && { originalResponse: stripped(originalResponse) }),
  };
}

function stripped(message: KeptMessage): KeptMessage {
  const content = contentOf(message);
  if (content.form === 'none') return message;
  // What cannot be read cannot be cleaned either, so only its size stays.
  if (content.form !== 'json') return { ...message, body: null };
  const body = Buffer.from(JSON.stringify(content.value, dropVector));
  const { 'content-encoding': _, ...headers } = message.headers;
  return { ...message, headers, body };
}

/** A vector is a list of numbers under any name, a list of such lists, or (in base64) a text named `embedding`. */
function dropVector(name: string, value: unknown): unknown {
  if (name === 'embedding' && typeof value === 'string') return undefined;
  if (!Array.isArray(value) || value.length === 0) return value;
  const vectors = value.every((item) => typeof item === 'number' || isNumbers(item));
  return vectors ? undefined : value;
}

const isNumbers = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'number');
