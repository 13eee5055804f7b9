/** What an audit row may show of a request: credentials are masked wherever their field's name gives them away. */
import { readJson } from '../../../bounded-json.ts';
import { decodeSegment } from '../../../http/routes.ts';

const secretName =
  /password|passphrase|secret|token|csrf|credential|private|authorization|cookie|jwks|client-auth|key(s|_?value|_?json)?$/i;
/** Credentials whose names end like those of harmless fields, and headers of which any may be one. */
const alwaysSecretName =
  /access_?key_?id$|service_?account|custom_?headers$|vault_?secret_?id$|aws_?external_?id$|aws_?role_?arn$/i;
const harmlessName = /(_ids?|_name|_type|_schema|_scopes)$|^(scopes?)$/i;
/** Lists whose items carry a field called `key` that names a condition, not a credential. */
const conditionLists = new Set(['conditions', 'group_by']);

/** People choose these, so that even their ends would help a guesser. */
const passwordName = /password|passphrase/i;

const maskText = (text: string): string => (text.length < 8 ? '****' : `${text.slice(0, 2)}****${text.slice(-2)}`);

/** Whether a field of this name holds a credential. */
export const isSecret = (name: string): boolean =>
  alwaysSecretName.test(name) || (secretName.test(name) && !harmlessName.test(name));

export function maskBody(value: unknown, insideConditions = false): unknown {
  if (Array.isArray(value)) return value.map((item) => maskBody(item, insideConditions));
  if (typeof value === 'string') return maskJsonText(value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      if (passwordName.test(name)) return [name, '****'];
      if (isSecret(name) && !(insideConditions && name === 'key')) return [name, maskAll(field)];
      return [name, maskBody(field, conditionLists.has(name))];
    }),
  );
}

/** An object may also be sent as its JSON text, with the same fields in it; of one that is broken nobody can tell the fields apart. */
function maskJsonText(text: string): string {
  if (/^https?:\/\//i.test(text)) return maskAddress(text);
  if (!/^\s*[{[]/.test(text)) return text;
  try {
    return JSON.stringify(maskBody(readJson(text)));
  } catch {
    return namesSecret(text) ? '****' : text;
  }
}

/** An address may hold a password before its host, and keys in its query. */
const maskAddress = (address: string): string =>
  address
    .replace(/^(https?:\/\/)[^/?#@]*@/i, '$1****@')
    .replace(/([?&])([^=&#]+)=([^&#]*)/g, (whole, mark: string, name: string) =>
      isSecret(name) || /sig(nature)?$/i.test(name) ? `${mark}${name}=****` : whole,
    );

const namesSecret = (text: string): boolean => (text.match(/[\w-]+/g) ?? []).some(isSecret);

/** Everything below a secret name is secret, whatever its shape. */
function maskAll(value: unknown): unknown {
  if (typeof value === 'string') return maskText(value);
  if (typeof value === 'number') return '****';
  if (Array.isArray(value)) return value.map(maskAll);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, maskAll(field)]));
}

export const maskHeaders = (headers: Headers): Record<string, string> => maskPairs(headers);

export const maskQuery = (query: URLSearchParams): Record<string, string> => maskPairs(query);

const maskPairs = (pairs: Iterable<[string, string]>): Record<string, string> =>
  Object.fromEntries([...pairs].map(([name, value]) => [name, isSecret(name) ? maskText(value) : maskJsonText(value)]));

/** A link's token stands in the path; nothing of it may outlive the call. */
export function maskPath(path: string, params: Record<string, string>): string {
  const { token } = params;
  if (token === undefined) return path;
  return path
    .split('/')
    .map((segment) => (decodeSegment(segment) === token ? '****' : segment))
    .join('/');
}

const longestText = 16_384;

/** What an audit row keeps of a long text. */
export const bounded = (text: string): string => (text.length > longestText ? `${text.slice(0, longestText)}…` : text);
