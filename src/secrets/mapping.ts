/** Which field of an object takes which secret, and how its value is taken out of what the manager stores. */
import { jsonOrNothing } from '../bounded-json.ts';
import type { SecretMapping } from '../catalog/saved.ts';
import type { SecretSource } from './manager.ts';
import { SecretFault, type SecretPayload } from './manager.ts';

/** A mapping with its reference found. */
export interface SecretUse {
  /** `key`, or the name of a field of the settings. */
  target: string;
  /** As the mapping names it. */
  reference: string;
  /** Null: the reference is gone, or not for this workspace. */
  source: SecretSource | null;
  secretKey: string | null;
  format: 'string' | 'json';
}

/** Finds the reference that a mapping names by id or slug; null where it cannot be used. */
export type FindSource = (reference: string) => SecretSource | null;

/** Undefined where nothing is mapped, so that nothing need be looked at. */
export const usesOf = (mappings: readonly SecretMapping[], find: FindSource): readonly SecretUse[] | undefined =>
  mappings.length === 0
    ? undefined
    : mappings.map(({ target_field, secret_reference_id, secret_key, value_format }) => {
        const source = find(secret_reference_id);
        return {
          target: target_field.replace(/^(configurations|credentials)\./, ''),
          reference: secret_reference_id,
          source,
          secretKey: secret_key ?? source?.key ?? null,
          format: value_format,
        };
      });

/** The value that a use takes out of a payload. */
export function pick(payload: SecretPayload, secretKey: string | null, format: 'string' | 'json'): unknown {
  const value = secretKey === null ? payload : fieldOf(payload, secretKey);
  // It would be sent as a credential, and refused with words that name the wrong cause.
  if (typeof value === 'string' && value.trim() === '') throw new SecretFault('refused', 'the secret is empty');
  if (format === 'string') return typeof value === 'string' ? value : JSON.stringify(value);
  if (typeof value !== 'string') return value;
  const parsed = jsonOrNothing(value);
  if (parsed === undefined) throw new SecretFault('refused', 'the secret is no JSON, and value_format asks for it');
  return parsed;
}

function fieldOf(payload: SecretPayload, key: string): unknown {
  const fields = typeof payload === 'string' ? jsonOrNothing(payload) : payload;
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    throw new SecretFault('refused', 'the secret is no JSON object, and secret_key asks for a field of it');
  }
  const value = Object.hasOwn(fields, key) ? (fields as Record<string, unknown>)[key] : undefined;
  if (value === undefined || value === null) {
    throw new SecretFault('refused', `the secret has no field ${JSON.stringify(key)}`);
  }
  return value;
}
