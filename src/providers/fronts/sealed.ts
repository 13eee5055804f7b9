/** What a provider must get back word for word, in a field of the client's dialect that clients carry without looking inside. */
import { isObject, parsed, textOf } from '../json.ts';

export type Sealed =
  /** Proves a thought to be the provider's own. */
  | { holds: 'signature'; signature: string }
  /** A thought that only the provider can read. */
  | { holds: 'thought'; content: string }
  /** Belongs to a tool call. */
  | { holds: 'call'; id: string; signature: string };

const mark = 'gw1.';

export const seal = (content: Sealed): string => mark + Buffer.from(JSON.stringify(content)).toString('base64url');

/** Null for what was not sealed here, such as another provider's own state. */
export function unseal(text: string): Sealed | null {
  if (!text.startsWith(mark)) return null;
  const content = parsed(Buffer.from(text.slice(mark.length), 'base64url').toString());
  if (!isObject(content)) return null;
  const signature = textOf(content.signature);
  const thought = textOf(content.content);
  const id = textOf(content.id);
  if (content.holds === 'signature' && signature !== null) return { holds: 'signature', signature };
  if (content.holds === 'thought' && thought !== null) return { holds: 'thought', content: thought };
  if (content.holds === 'call' && id !== null && signature !== null) return { holds: 'call', id, signature };
  return null;
}
