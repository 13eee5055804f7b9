/** A 200 that is no answer: a page, nothing, half of a JSON text, or an error under the wrong status. It is a fault of the provider's, which retries and fallbacks act on and nobody is billed for. */
import { jsonOrNothing } from '../../bounded-json.ts';
import type { EndpointKind } from '../../providers/endpoints.ts';
import { faultIn } from '../../providers/faults.ts';
import { isObject } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import type { Bytes } from '../../wire/client/collected.ts';
import { GatewayError } from '../errors.ts';
import { saidByProvider } from './translated-answer.ts';

/** What these routes answer is JSON in every form. */
const jsonKinds: ReadonlySet<EndpointKind> = new Set<EndpointKind>([
  'chatComplete',
  'complete',
  'embed',
  'rerank',
  'moderate',
  'imageGenerate',
  'imageEdit',
  'imageVariation',
  'createModelResponse',
  'messages',
  'messagesCountTokens',
  'ocr',
]);

/** Longer ones are long because they say something: only where they begin and end is looked at. */
const readUpTo = 64 * 1024;

const decoder = new TextDecoder();

/** A whole answer: its fields where they were read, and what is wrong with it where it cannot be used. */
export interface ReadJsonAnswer {
  fields: JsonObject | null;
  fault: GatewayError | null;
}

const unread: ReadJsonAnswer = { fields: null, fault: null };

export function readJsonAnswer(kind: EndpointKind, bytes: Bytes, provider: string): ReadJsonAnswer {
  if (!jsonKinds.has(kind)) return unread;
  if (bytes.length > readUpTo) return isEnclosed(bytes) ? unread : refused(unusable(bytes, provider));
  const answer = jsonOrNothing(decoder.decode(bytes));
  if (Array.isArray(answer)) return unread;
  if (!isObject(answer)) return refused(unusable(bytes, provider));
  if (!isError(answer)) return { fields: answer, fault: null };
  const fault = faultIn(502, answer);
  return refused(fault ? saidByProvider(fault, provider) : unusable(bytes, provider));
}

const refused = (fault: GatewayError): ReadJsonAnswer => ({ fields: null, fault });

const content = ['choices', 'content', 'output', 'data', 'results', 'embeddings', 'pages', 'usage'];

/** An answer of Responses has a field `error` beside its content. */
function isError(answer: JsonObject): boolean {
  const { error, type } = answer;
  const told = type === 'error' || (error !== undefined && error !== null && error !== false && error !== '');
  return told && !content.some((name) => answer[name] !== undefined);
}

const blank: ReadonlySet<number | undefined> = new Set([9, 10, 13, 32]);
const closings: ReadonlyMap<number | undefined, number> = new Map([
  [0x7b, 0x7d],
  [0x5b, 0x5d],
]);

function isEnclosed(bytes: Bytes): boolean {
  let first = 0;
  let last = bytes.length - 1;
  while (blank.has(bytes[first])) first++;
  while (blank.has(bytes[last])) last--;
  return closings.has(bytes[first]) && closings.get(bytes[first]) === bytes[last];
}

const longestQuote = 200;

function unusable(bytes: Bytes, provider: string): GatewayError {
  const quote = decoder.decode(bytes.subarray(0, longestQuote)).replace(/\s+/g, ' ').trim();
  const what = quote === '' ? 'an empty body' : `what is no JSON: ${quote}`;
  return new GatewayError('invalid_provider_response', `${provider} answered 200 with ${what}`);
}
