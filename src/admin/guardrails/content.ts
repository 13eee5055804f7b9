/** The checks and actions of a request body: held against the rules and made ready to be stored. */
import { findCheck } from '../../guardrails/catalogue.ts';
import { compileHook } from '../../guardrails/compile.ts';
import { parseSaved } from '../../guardrails/hook.ts';
import { streamFaults } from '../../guardrails/stream-needs.ts';
import { faultOfCustomHost, type TrustedHosts } from '../../http/custom-host.ts';
import { invalidFields } from '../../http/errors.ts';
import { masked } from '../integrations/masking.ts';
import { isSecret } from '../kernel/audit/mask.ts';

export interface GuardrailContent {
  checks: Record<string, unknown>[];
  actions: Record<string, unknown>;
}

const faultsTold = 20;

/** Refuses what the engine could not run, with the place of every fault. */
export function checkContent({ checks, actions }: GuardrailContent, trustedHosts: TrustedHosts): string[] {
  const parsed = parseSaved(checks, actions);
  const compiled = parsed.ok
    ? compileHook(parsed.value, '', {
        find: findCheck,
        credentialsOf: () => ({}),
        faultOfUrl: (url) => faultOfCustomHost(url, trustedHosts),
      })
    : parsed;
  const faults = !compiled.ok ? compiled.faults : parsed.ok ? streamFaults(compiled.value, parsed.value) : [];
  if (faults.length > 0) {
    throw invalidFields(faults.slice(0, faultsTold).map(({ path, message }) => ({ location: 'body', path, message })));
  }
  if (!compiled.ok) return [];
  return eventWarnings(compiled.value.checks.map(({ check }) => check));
}

/** The events are chosen by what a guardrail is attached to, so that a mixture is only strange. */
function eventWarnings(checks: readonly { id: string; events: readonly string[] }[]): string[] {
  const inputOnly = checks.filter(({ events }) => !events.includes('afterRequestHook')).map(({ id }) => id);
  const outputOnly = checks.filter(({ events }) => !events.includes('beforeRequestHook')).map(({ id }) => id);
  if (inputOnly.length === 0 || outputOnly.length === 0) return [];
  return [
    `${inputOnly.join(', ')} only checks input and ${outputOnly.join(', ')} only output: on either side one of them reports an error`,
  ];
}

type Replace = (value: string, path: string) => string;

/** A copy in which `replace` was asked about every text that may be a credential. */
function mapSecrets(value: unknown, replace: Replace, path: string, secret: boolean): unknown {
  if (typeof value === 'string') return secret ? replace(value, path) : value;
  if (Array.isArray(value)) return value.map((item, index) => mapSecrets(item, replace, `${path}.${index}`, secret));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      mapSecrets(inner, replace, `${path}.${name}`, secret || holdsSecrets(name)),
    ]),
  );
}

/** Headers of a webhook may hold anything. Names of metadata and models are no secrets, whatever they are called. */
const holdsSecrets = (name: string): boolean =>
  name === 'credentials' || name === 'headers' || (isSecret(name) && !harmless.has(name));
const harmless = new Set([
  'keys',
  'metadataKeys',
  'allowedKeys',
  'blockedKeys',
  'headerKey',
  'jwks',
  'secrets',
  'keyAlias',
  'maxTokenAge',
  'jwksUri',
]);

const mapChecks = (checks: readonly unknown[], replace: Replace): Record<string, unknown>[] =>
  checks.map((check, index) => mapSecrets(check, replace, String(index), false) as Record<string, unknown>);

export const maskChecks = (checks: readonly unknown[]): Record<string, unknown>[] =>
  mapChecks(checks, (value) => masked(value));

const looksMasked = (value: string): boolean => /^(..)?\*{7}(..)?$/s.test(value);

/** Puts saved credentials in the place of their masks; refuses a mask that stands for nothing. */
export function restoreSecrets(sent: readonly unknown[], saved: readonly unknown[]): Record<string, unknown>[] {
  const known: { path: string; value: string }[] = [];
  mapChecks(saved, (value, path) => {
    known.push({ path, value });
    return value;
  });
  const unknown: string[] = [];
  const restored = mapChecks(sent, (value, path) => {
    if (!looksMasked(value)) return value;
    const alike = known.filter((credential) => masked(credential.value) === value);
    const found = alike.find((credential) => credential.path === path) ?? (alike.length === 1 ? alike[0] : undefined);
    if (!found) unknown.push(path);
    return found?.value ?? value;
  });
  if (unknown.length > 0) {
    const message = 'is masked and stands for no saved credential: send the credential itself';
    throw invalidFields(
      unknown.slice(0, faultsTold).map((path) => ({ location: 'body', path: `checks.${path}`, message })),
    );
  }
  return restored;
}
