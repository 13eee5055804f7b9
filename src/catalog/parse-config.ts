/** Reads a routing config: strictly where it is saved; unknown keys are dropped where it is sent with a request. */
import type { z } from 'zod';
import { withSnakeCaseKeys } from './camel-case.ts';
import { type ConfigChecks, type ConfigFault, faultsOfConfig } from './config-rules.ts';
import { type ConfigBody, configSchema } from './config-schema.ts';

type ParsedConfig = { ok: true; config: ConfigBody; ignoredKeys: string[] } | { ok: false; errors: ConfigFault[] };

/** JSON nested deeper than this is not walked at all; ten levels of targets with a schema in their parameters stay far below. */
const deepestJson = 100;

/** Reads a config as a customer wrote it. `saved`: unknown keys are faults; `inline`: they are dropped and named in `ignoredKeys`. */
export function parseConfig(value: unknown, mode: 'saved' | 'inline', checks: ConfigChecks = {}): ParsedConfig {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: false, errors: [{ path: '', message: 'a config is a JSON object' }] };
  }
  if (isDeeperThan(value, deepestJson)) {
    return { ok: false, errors: [{ path: '', message: `is nested deeper than ${deepestJson} levels` }] };
  }
  const draft = withSnakeCaseKeys(value);
  const ignoredKeys: string[] = [];
  let result = configSchema.safeParse(draft);
  if (!result.success && mode === 'inline') {
    ignoredKeys.push(...dropUnknownKeys(draft, result.error.issues));
    result = configSchema.safeParse(draft);
  }
  if (!result.success) return { ok: false, errors: result.error.issues.flatMap(faultsOfIssue) };
  const { faults, unusedKeys } = faultsOfConfig(result.data, mode, checks);
  if (faults.length > 0) return { ok: false, errors: faults };
  return { ok: true, config: result.data, ignoredKeys: [...ignoredKeys, ...unusedKeys] };
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

type Issue = z.core.$ZodIssue;

function faultsOfIssue(issue: Issue): ConfigFault[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: pathOf([...issue.path, key]), message: 'is not a known field' }));
  }
  return [{ path: pathOf(issue.path), message: issue.message }];
}

/** Takes the keys that no schema knows out of the draft; returns their paths. */
function dropUnknownKeys(draft: unknown, issues: readonly Issue[]): string[] {
  return issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [];
    const holder = issue.path.reduce<unknown>((inner, step) => (isHolder(inner) ? inner[step] : undefined), draft);
    if (!isHolder(holder)) return [];
    for (const key of issue.keys) delete holder[key];
    return issue.keys.map((key) => pathOf([...issue.path, key]));
  });
}

const isHolder = (value: unknown): value is Record<PropertyKey, unknown> => typeof value === 'object' && value !== null;

/** `targets[1].retry.attempts`: places in a config are named as logs and headers name its targets. */
const pathOf = (steps: readonly PropertyKey[]): string =>
  steps.reduce<string>((path, step) => {
    if (typeof step === 'number') return `${path}[${step}]`;
    return path === '' ? String(step) : `${path}.${String(step)}`;
  }, '');
