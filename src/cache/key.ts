/** The key of an answer: a digest of everything that it depends on. Two requests share it only where all of that is equal. */

export interface KeyParts {
  organisationId: string;
  workspaceId: string;
  /** The operation: `chatComplete`. */
  kind: string;
  provider: string;
  /** The slug of a saved provider; empty for one that the request names. */
  savedProvider: string;
  /** Where the call goes, as far as the target says so itself. */
  host: string;
  /** Settings of the target that become part of the address or of the body. */
  fields: Readonly<Record<string, unknown>>;
  model: string;
  /** The parameters after shaping. */
  body: Readonly<Record<string, unknown>>;
  /** The answer's form differs with it. */
  strict: boolean;
  /** The guardrails that looked at the question and at the answer. */
  guardrails: unknown;
  /** With a namespace, these two are no part of the key. */
  namespace: string | null;
  metadata: Readonly<Record<string, string>>;
  headers: Readonly<Record<string, string>>;
}

/** How the answer travels changes nothing in what it says. */
const notContent: ReadonlySet<string> = new Set(['stream', 'stream_options', 'model']);

export function cacheKey(parts: KeyParts): string {
  const { body, namespace, metadata, headers } = parts;
  const content: Record<string, unknown> = Object.create(null);
  for (const name of Object.keys(body)) if (!notContent.has(name)) content[name] = body[name];
  const { organisationId, workspaceId, kind, provider, savedProvider, host, fields, model, strict, guardrails } = parts;
  const target = [organisationId, workspaceId, kind, provider, savedProvider, host, fields, model, strict, guardrails];
  const partition = namespace === null ? [metadata, headers] : namespace;
  return Bun.CryptoHasher.hash('sha256', canonicalJson([target, content, partition]), 'hex');
}

/** One text for one value: fields sorted by name, no blanks. */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value)) ?? 'null';

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const fields = value as Readonly<Record<string, unknown>>;
  // Without a prototype, since a field may be called `__proto__`.
  const copy: Record<string, unknown> = Object.create(null);
  for (const name of Object.keys(fields).sort()) copy[name] = sorted(fields[name]);
  return copy;
}
