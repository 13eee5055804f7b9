/** The metadata of a request: what the caller says, below what the key and the workspace say. */

import { readJson } from '../../bounded-json.ts';
import type { Identified } from '../context.ts';
import { type ClientBody, parametersOf } from './body.ts';

type Metadata = Record<string, string>;

const longestValue = 128;

export function metadataOf(
  identified: Identified,
  configMetadata: Readonly<Metadata>,
  body: ClientBody,
  headersToMetadata: readonly string[],
): Readonly<Metadata> {
  const { own, caller, workspace } = identified;
  const merged = baggage(own.fields.baggage);
  add(configMetadata, merged);
  copyHeaders(own.fields, headersToMetadata, merged);
  const said = own.get('metadata');
  if (said) add(sent(said), merged);
  const { user } = parametersOf(body);
  if (merged._user === undefined && typeof user === 'string') merged._user = user.slice(0, longestValue);
  const attribution = workspace.settings.user_attribution;
  const { userName, metadata } = caller.defaults;
  if (userName && attribution.enabled && !(attribution.allow_override && merged._user !== undefined)) {
    merged._user = userName;
  }
  add(metadata, merged);
  add(workspace.metadata, merged);
  return merged;
}

/** Cheaper than `assign` where there is little, or nothing. */
function add(more: Readonly<Metadata>, to: Metadata): void {
  for (const name in more) to[name] = more[name] ?? '';
}

/** What cannot be read as a JSON object counts as none; the request goes on. */
function sent(header: string): Metadata {
  try {
    const value: unknown = readJson(header);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, asText(field)]));
  } catch {
    return {};
  }
}

const asText = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, longestValue);

function baggage(header: string | undefined): Metadata {
  if (!header) return {};
  const pairs: Metadata = {};
  for (const item of header.split(',')) {
    const [pair = ''] = item.split(';', 1);
    const equals = pair.indexOf('=');
    if (equals > 0) pairs[pair.slice(0, equals).trim()] = decoded(pair.slice(equals + 1).trim()).slice(0, longestValue);
  }
  return pairs;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function copyHeaders(fields: Readonly<Metadata>, names: readonly string[], to: Metadata): void {
  for (const name of names) {
    const value = fields[name];
    if (value !== undefined) to[name] = value.slice(0, longestValue);
  }
}
