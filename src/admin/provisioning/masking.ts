/** How the secrets among an integration's settings look when they are read, and how a mask that is sent back stands for what is stored. */
import { isSecret } from '../kernel/audit/mask.ts';

type Fields = Readonly<Record<string, unknown>>;

const stars = '*******';
const masked = (secret: string): string =>
  secret.length < 8 ? stars : `${secret.slice(0, 2)}${stars}${secret.slice(-2)}`;

/** Objects of which every value may be a credential. */
const secretMaps = new Set(['headers', 'passthrough_headers', 'authorization_params']);
/** Named like a credential, and none. */
const harmless = new Set(['token_endpoint', 'token_endpoint_auth_method', 'token_endpoint_auth_methods_supported']);

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const hides = (name: string, inside: boolean): boolean => inside || (isSecret(name) && !harmless.has(name));

export function maskedSettings(settings: Fields, inside = false): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => {
      if (typeof value === 'string') return [name, hides(name, inside) ? masked(value) : value];
      // A key set is public.
      if (name === 'jwks' || !isFields(value)) return [name, value];
      return [name, maskedSettings(value, inside || secretMaps.has(name))];
    }),
  );
}

/** A mask that was read and is sent back stands for the secret that it hides. */
export function unmaskedSettings(sent: Fields, stored: Fields, inside = false): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(sent).map(([name, value]) => {
      const before = stored[name];
      if (typeof value === 'string') {
        const same = typeof before === 'string' && hides(name, inside) && value === masked(before);
        return [name, same ? before : value];
      }
      if (!isFields(value)) return [name, value];
      return [name, unmaskedSettings(value, isFields(before) ? before : {}, inside || secretMaps.has(name))];
    }),
  );
}
