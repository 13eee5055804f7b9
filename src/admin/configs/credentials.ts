/** Credentials inside a config: masked when it is read, and put back when a masked config is sent again. */
import { guardrailLists } from '../../catalog/config-rules.ts';
import type { ConfigBody } from '../../catalog/config-schema.ts';
import { masked } from '../integrations/masking.ts';
import { isSecret } from '../kernel/audit/mask.ts';

type Json = Readonly<Record<string, unknown>>;

/** What a target may hold to authenticate with. */
const credentialFields: ReadonlySet<string> = new Set([
  'api_key',
  'anthropic_api_key',
  'aws_access_key_id',
  'aws_secret_access_key',
  'aws_session_token',
  'azure_ad_token',
  'azure_entra_client_secret',
  'modal_key',
  'modal_secret',
  'oracle_private_key',
  'oracle_key_passphrase',
  'scenario_api_secret',
  'vertex_service_account_json',
  'watsonx_zen_api_key',
] as const satisfies readonly (keyof ConfigBody)[]);

/** Checks are given as they please their makers, so that only a field's name tells that it holds a credential. */
const hookFields: ReadonlySet<string> = new Set(guardrailLists);

type Replace = (value: unknown, path: string) => unknown;

/** A copy of the config in which `replace` has been asked about every credential. */
function mapCredentials(config: Json, replace: Replace, path = ''): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(config).map(([name, value]) => {
      const at = `${path}.${name}`;
      if (credentialFields.has(name)) return [name, replace(value, at)];
      if (hookFields.has(name)) return [name, mapHook(value, replace, at)];
      if (name !== 'targets' || !Array.isArray(value)) return [name, value];
      return [name, value.map((target, index) => mapCredentials(target, replace, `${at}.${index}`))];
    }),
  );
}

function mapHook(value: unknown, replace: Replace, path: string, name = ''): unknown {
  if (typeof value === 'string') return isSecret(name) ? replace(value, path) : value;
  if (Array.isArray(value)) return value.map((item, index) => mapHook(item, replace, `${path}.${index}`, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => [
      field,
      mapHook(inner, replace, `${path}.${field}`, isSecret(field) ? field : name),
    ]),
  );
}

const maskedValue = (value: unknown): string => masked(typeof value === 'string' ? value : '');

export const maskConfig = (config: Json): Record<string, unknown> => mapCredentials(config, maskedValue);

const looksMasked = (value: unknown): value is string => typeof value === 'string' && /^(..)?\*{7}(..)?$/s.test(value);

const fieldOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

interface Restored {
  config: Record<string, unknown>;
  /** The paths of masked values that stand for nothing which was saved. */
  unknown: string[];
}

/** Puts the saved credentials in the place of their masks: the one of the same place, else the only one of that field that looks so. */
export function restoreCredentials(sent: Json, saved: Json | null): Restored {
  const known: { path: string; value: unknown; mask: string }[] = [];
  if (saved) {
    mapCredentials(saved, (value, path) => {
      known.push({ path, value, mask: maskedValue(value) });
      return value;
    });
  }
  const unknown: string[] = [];
  const config = mapCredentials(sent, (value, path) => {
    if (!looksMasked(value)) return value;
    const alike = known.filter((credential) => credential.mask === value && fieldOf(credential.path) === fieldOf(path));
    const different = new Set(alike.map((credential) => JSON.stringify(credential.value)));
    const found = alike.find((credential) => credential.path === path) ?? (different.size === 1 ? alike[0] : undefined);
    if (!found) unknown.push(path.slice(1));
    return found ? found.value : value;
  });
  return { config, unknown };
}
