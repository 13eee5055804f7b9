/** The request for a batch of the gateway's own. */
import type { NewBatch } from '../../batches/batches.ts';
import { batchEndpoints } from '../../batches/rows.ts';
import { RequestFault } from '../../providers/faults.ts';
import { Fields } from '../../providers/fields.ts';
import type { JsonObject } from '../../providers/provider.ts';
import type { RequestContext } from '../context.ts';
import { GatewayError } from '../errors.ts';
import type { OwnHeaders } from '../request/headers.ts';

const windows = ['24h', 'immediate'];
const mostMetadata = 16;

/** Headers that say how each line is routed; who calls is fixed by the key that makes the batch. */
const notOptions = new Set(['api-key', 'trace-id', 'span-id', 'parent-span-id']);

export function newBatchOf({ body, own }: RequestContext): NewBatch {
  if (body.form !== 'json') throw new GatewayError('invalid_body', 'send the batch as a JSON object');
  return batchIn(body.json, own);
}

export function batchIn(json: JsonObject, own: OwnHeaders): NewBatch {
  try {
    const fields = new Fields(json);
    return {
      inputFileId: fields.needText('input_file_id'),
      endpoint: oneOf(fields, 'endpoint', batchEndpoints, null),
      completionWindow: oneOf(fields, 'completion_window', windows, '24h'),
      options: { ...headerOptions(own.all()), ...givenOptions(fields) },
      metadata: metadataOf(fields),
    };
  } catch (fault) {
    if (fault instanceof RequestFault) throw new GatewayError('invalid_body', fault.message, { field: fault.field });
    throw fault;
  }
}

function oneOf(fields: Fields, name: string, allowed: readonly string[], fallback: string | null): string {
  const value = fields.text(name) ?? fallback ?? '';
  if (allowed.includes(value)) return value;
  throw new RequestFault(name, `${name} must be one of ${allowed.join(', ')}`);
}

/** What the client sent with this request holds for every line as well; `x-gw-provider: gw` only said who runs it. */
export const headerOptions = (own: Iterable<[string, string]>): Record<string, string> =>
  Object.fromEntries(
    [...own]
      .filter(([name, value]) => !notOptions.has(name) && !(name === 'provider' && value === 'gw'))
      .map(([name, value]) => [`x-gw-${name}`, value]),
  );

function givenOptions(fields: Fields): Record<string, string> {
  const options = fields.object('gw_options');
  if (!options) return {};
  return Object.fromEntries(
    Object.keys(options.json).map((key) => {
      const name = key.toLowerCase().replaceAll('_', '-');
      if (!/^x-gw-[a-z0-9-]+$/.test(name) || notOptions.has(name.slice('x-gw-'.length))) {
        throw new RequestFault(options.at(key), `${options.at(key)} is not a header that a batch can be given`);
      }
      return [name, headerValue(options.json[key], options.at(key))];
    }),
  );
}

const longestOption = 65_536;

/** A value that a header can hold; what is not text is written as JSON. */
function headerValue(value: unknown, path: string): string {
  const text = typeof value === 'string' ? value : asciiJson(value);
  if (/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(text) && text.length <= longestOption) return text;
  throw new RequestFault(path, `${path} cannot be the value of a header`);
}

const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

function metadataOf(fields: Fields): Record<string, string> | null {
  const metadata = fields.object('metadata');
  if (!metadata) return null;
  const names = Object.keys(metadata.json);
  if (names.length > mostMetadata) throw new RequestFault('metadata', `metadata may have ${mostMetadata} pairs`);
  return Object.fromEntries(names.map((name) => [name, metadata.needText(name)]));
}
