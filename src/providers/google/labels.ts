/** Labels on what Vertex AI bills: those of the request, and its metadata where the target asks for it. */
import type { Conversation } from '../chat/conversation.ts';
import { isObject, objectOf, parsed, wordOf } from '../json.ts';
import type { CallFacts, JsonObject } from '../provider.ts';

const longest = 63;
const mostLabels = 64;
/** Keeps labels made from metadata apart from the customer's own. */
const metadataPrefix = 'gw_gateway_';

export function labelsOf(
  { extras, metadata }: Conversation,
  { fields, clientHeader }: CallFacts,
): Record<string, string> | null {
  const mapped =
    fields.vertex_map_metadata === true ? { ...headerObject(clientHeader('x-gw-metadata')), ...metadata } : {};
  const labels = [
    ...entriesOf(extras.labels).map(([name, value]) => [labelKey(name), labelText(value)] as const),
    ...entriesOf(mapped).map(([name, value]) => [labelKey(metadataPrefix + name), labelText(value)] as const),
  ].filter(([name]) => name !== '');
  return labels.length > 0 ? Object.fromEntries(labels.slice(0, mostLabels)) : null;
}

const headerObject = (header: string | null): JsonObject => (header === null ? {} : objectOf(parsed(header)));

const entriesOf = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : []);

const labelText = (value: unknown): string =>
  wordOf(value)
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, '_')
    .slice(0, longest);

/** A label's name begins with a letter. */
const labelKey = (name: string): string => labelText(name).replace(/^[^a-z]+/, '');
