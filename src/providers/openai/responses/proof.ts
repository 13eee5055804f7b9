/** What makes a thought of this API its own again: the item's id and its encrypted content, as one signature. */
import type { JsonObject } from '../../provider.ts';

export const proofOf = (id: string, encrypted: string): string => `${id}.${encrypted}`;

/** Null for the signature of another provider. */
export function opened(signature: string): JsonObject | null {
  const [, id, encrypted_content] = /^(rs_[^.]+)\.(.+)$/s.exec(signature) ?? [];
  return id && encrypted_content ? { id, encrypted_content } : null;
}
