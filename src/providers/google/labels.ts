/** Labels on what Vertex AI bills: those of the request, and its metadata where the target asks for it. */
import type { Conversation } from '../chat/conversation.ts';
import { isObject, wordOf } from '../json.ts';
import type { CallFacts } from '../provider.ts';

const longest = 63;
const mostLabels = 64;

export function labelsOf(
  { extras, metadata }: Pick<Conversation, 'extras' | 'metadata'>,
  { fields, metadata: said, labelPrefix }: CallFacts,
): Record<string, string> | null {
  const mapped = fields.vertex_map_metadata === true ? { ...metadata, ...said } : {};
  const labels = [
    ...entriesOf(extras.labels).map(([name, value]) => [labelKey(name), labelText(value)] as const),
    ...entriesOf(mapped).map(([name, value]) => [labelKey(labelPrefix + name), labelText(value)] as const),
  ].filter(([name]) => name !== '');
  return labels.length > 0 ? Object.fromEntries(labels.slice(0, mostLabels)) : null;
}

const entriesOf = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : []);

const labelText = (value: unknown): string =>
  wordOf(value)
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, '_')
    .slice(0, longest);

/** A label's name begins with a letter. */
const labelKey = (name: string): string => labelText(name).replace(/^[^a-z]+/, '');
