/**
 * The signature of a token, RS256. Checked by the runtime's own function at once: through the promises of a JOSE library it takes
 * three times as long (`npm run bench -- --only jwt`), and there is one algorithm to choose from.
 */
import { type KeyObject, verify } from 'node:crypto';
import { decodedPart } from './claims.ts';

/** What the token says, where the key has signed it; null otherwise. */
export function signedPayload(token: string, key: KeyObject): Record<string, unknown> | null {
  const last = token.lastIndexOf('.');
  const signature = Buffer.from(token.slice(last + 1), 'base64url');
  if (!verify('sha256', Buffer.from(token.slice(0, last)), key, signature)) return null;
  const payload = decodedPart(token.slice(token.indexOf('.') + 1, last));
  return typeof payload === 'object' && payload !== null && !Array.isArray(payload)
    ? (payload as Record<string, unknown>)
    : null;
}
