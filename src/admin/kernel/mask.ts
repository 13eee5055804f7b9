/** What an audit row may show of a request: credentials are masked wherever their field's name gives them away. */

const secretName =
  /password|passphrase|secret|token|credential|private|authorization|cookie|jwks|client-auth|key(s|_?value|_?json)?$/i;
const harmlessName = /(_ids?|_name|_type|_schema|_scopes)$|^(scopes?)$/i;
/** Lists whose items carry a field called `key` that names a condition, not a credential. */
const conditionLists = new Set(['conditions', 'group_by']);

const maskText = (text: string): string => (text.length < 8 ? '****' : `${text.slice(0, 2)}****${text.slice(-2)}`);

const isSecret = (name: string): boolean => secretName.test(name) && !harmlessName.test(name);

export function maskBody(value: unknown, insideConditions = false): unknown {
  if (Array.isArray(value)) return value.map((item) => maskBody(item, insideConditions));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      if (isSecret(name) && !(insideConditions && name === 'key')) return [name, maskAll(field)];
      return [name, maskBody(field, conditionLists.has(name))];
    }),
  );
}

/** Everything below a secret name is secret, whatever its shape. */
function maskAll(value: unknown): unknown {
  if (typeof value === 'string') return maskText(value);
  if (typeof value === 'number') return '****';
  if (Array.isArray(value)) return value.map(maskAll);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, maskAll(field)]));
}

export function maskHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].map(([name, value]) => [name, isSecret(name) ? maskText(value) : value]));
}

export const maskQuery = (query: URLSearchParams): Record<string, string> =>
  Object.fromEntries([...query].map(([name, value]) => [name, isSecret(name) ? maskText(value) : value]));
