/** Ids of tool calls for providers that refuse those of others: the same id always becomes the same, and different ones stay apart. */
import { createHash } from 'node:crypto';

const digestLength = 16;

/** `refused` finds every sign that may not stand in an id. */
export function acceptedId(id: string, refused: RegExp, longest = Number.POSITIVE_INFINITY): string {
  const plain = id.replace(refused, '_');
  if (plain === id && id !== '' && id.length <= longest) return id;
  const digest = createHash('sha256').update(id).digest('hex').slice(0, digestLength);
  return `${plain.slice(0, longest - digestLength - 1)}_${digest}`;
}
