/** What must hold between the fields of a config, beyond the form of each. */
import type { ConfigBody } from './config-schema.ts';
import { lacksStrategy, strategyOf } from './effective-strategy.ts';

export interface ConfigFault {
  /** `targets[1].weight`; empty for the config as a whole. */
  path: string;
  message: string;
}

/** What a config can only be checked against by those who know the installation. */
export interface ConfigChecks {
  /** Why this address may not be called, or null. Without it only the form of the URL is checked; the address is checked again when it is dialled. */
  faultOfCustomHost?: (url: string) => string | null;
  /** Whether this provider must be given a credential. */
  needsCredential?: (provider: string) => boolean;
  /** What is wrong with a guardrail that the config writes out. */
  faultsOfGuardrail?: (written: unknown) => readonly ConfigFault[];
}

interface Findings {
  faults: ConfigFault[];
  /** Paths of what has no effect where it stands. */
  unusedKeys: string[];
}

interface Place {
  path: string;
  isRoot: boolean;
  mode: 'saved' | 'inline';
}

export function faultsOfConfig(config: ConfigBody, mode: Place['mode'], checks: ConfigChecks): Findings {
  const findings: Findings = { faults: [], unusedKeys: [] };
  inspect(config, { path: '', isRoot: true, mode }, checks, findings);
  return findings;
}

function inspect(node: ConfigBody, place: Place, checks: ConfigChecks, findings: Findings): void {
  const at = (field: string): string => (place.path === '' ? field : `${place.path}.${field}`);
  const refuse = (field: string, message: string): void => {
    findings.faults.push({ path: field === '' ? place.path : at(field), message });
  };

  for (const field of besidePassthrough(node, place)) refuse(field, 'may not stand beside passthrough');
  for (const list of guardrailLists) {
    for (const [index, written] of (node[list] ?? []).entries()) {
      for (const { path, message } of checks.faultsOfGuardrail?.(written) ?? []) {
        refuse(`${list}[${index}]${path === '' ? '' : `.${path}`}`, message);
      }
    }
  }
  const hostFault = node.custom_host === undefined ? null : faultOfHost(node.custom_host, checks);
  if (hostFault) refuse('custom_host', hostFault);
  if (isVertexWithoutPlace(node)) {
    refuse('vertex_region', 'vertex-ai needs vertex_region, and vertex_project_id or vertex_service_account_json');
  }
  if (!saysSomething(node, checks)) {
    refuse('', 'names nothing to do: give a provider with its credential, strategy and targets, or a setting');
  }
  const strategy = strategyOf(node);
  if (!strategy) {
    if (!node.targets) return;
    if (lacksStrategy(node)) refuse('strategy.mode', 'is required: it says how to choose among several targets');
    else if (place.mode === 'saved') refuse('targets', 'needs a strategy beside it: give strategy.mode');
    else findings.unusedKeys.push(at('targets'));
    return;
  }
  if (!node.targets) {
    refuse('targets', 'is required beside a strategy');
    return;
  }
  for (const [field, message] of faultsBetweenSiblings(strategy, node.targets, place.mode)) refuse(field, message);
  node.targets.forEach((target, index) => {
    inspect(target, { path: at(`targets[${index}]`), isRoot: false, mode: place.mode }, checks, findings);
  });
}

/** The fields that name checks, each a list. */
export const guardrailLists = [
  'input_guardrails',
  'output_guardrails',
  'before_request_hooks',
  'after_request_hooks',
  'input_mutators',
  'output_mutators',
] as const satisfies readonly (keyof ConfigBody)[];

/** A whole request in passthrough mode is neither routed, changed nor guarded; a passthrough target only takes its provider from the request. */
function besidePassthrough(node: ConfigBody, place: Place): string[] {
  if (!node.passthrough) return [];
  const excluded = place.isRoot
    ? (['strategy', 'targets', 'override_params', ...guardrailLists] as const)
    : (['strategy', 'targets'] as const);
  return excluded.filter((field) => node[field] !== undefined);
}

function faultOfHost(url: string, checks: ConfigChecks): string | null {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return 'is not an http or https URL';
  return checks.faultOfCustomHost?.(url) ?? null;
}

const isVertexWithoutPlace = (node: ConfigBody): boolean =>
  node.provider === 'vertex-ai' && node.virtual_key === undefined && !hasVertexPlace(node);

const hasVertexPlace = (node: ConfigBody): boolean =>
  node.vertex_region !== undefined &&
  (node.vertex_service_account_json !== undefined || node.vertex_project_id !== undefined);

/** Any one of these makes a config worth having. */
const sufficientFields = [
  'virtual_key',
  'prompt_id',
  'cache',
  'retry',
  'request_timeout',
  'first_token_timeout',
  'stream_idle_timeout',
  'forward_headers',
  'passthrough',
  'default_params',
  'override_params',
  'drop_params',
  'fetch_integrated_models',
  'azure_entra_scope',
  'anthropic_beta',
  ...guardrailLists,
] as const satisfies readonly (keyof ConfigBody)[];

/** A raw provider with one of these can be called. */
const credentialFields = [
  'api_key',
  'custom_host',
  'aws_auth_type',
  'aws_role_arn',
  'azure_auth_mode',
  'azure_ad_token',
  'azure_foundry_url',
  'azure_endpoint_name',
  'anthropic_api_key',
  'oracle_private_key',
  'scenario_api_secret',
] as const satisfies readonly (keyof ConfigBody)[];

const withoutCredential = new Set(['ollama', 'triton']);

function saysSomething(node: ConfigBody, checks: ConfigChecks): boolean {
  if (sufficientFields.some((field) => node[field] !== undefined)) return true;
  // Targets that are missing beside it are a fault of their own.
  if (node.strategy !== undefined || node.targets !== undefined) return true;
  return node.provider !== undefined && isCallable(node, node.provider, checks);
}

function isCallable(node: ConfigBody, provider: string, checks: ConfigChecks): boolean {
  if (provider.startsWith('@') || withoutCredential.has(provider)) return true;
  if (checks.needsCredential?.(provider) === false) return true;
  if (credentialFields.some((field) => node[field] !== undefined)) return true;
  if (node.azure_deployment_name !== undefined && node.azure_region !== undefined) return true;
  return (node.aws_access_key_id !== undefined && node.aws_secret_access_key !== undefined) || hasVertexPlace(node);
}

type Strategy = NonNullable<ConfigBody['strategy']>;

function faultsBetweenSiblings(
  strategy: Strategy,
  targets: readonly ConfigBody[],
  mode: Place['mode'],
): [field: string, message: string][] {
  const faults: [string, string][] = [];
  const names = new Set<string>();
  targets.forEach(({ name }, index) => {
    if (name === undefined) return;
    if (names.has(name)) faults.push([`targets[${index}].name`, `${name} is the name of another target beside it`]);
    names.add(name);
  });
  if (strategy.mode !== 'conditional') return faults;

  const unknown = (name: string): string => `no target beside it has the name ${name}`;
  if (!strategy.conditions?.length) faults.push(['strategy.conditions', 'is required in mode conditional']);
  strategy.conditions?.forEach(({ then }, index) => {
    if (!names.has(then)) faults.push([`strategy.conditions[${index}].then`, unknown(then)]);
  });
  if (strategy.default === undefined) {
    // A request without a match is then refused, which is for its sender to choose; a saved config serves others.
    if (mode === 'saved') faults.push(['strategy.default', 'is required in mode conditional: name a target']);
  } else if (!names.has(strategy.default)) faults.push(['strategy.default', unknown(strategy.default)]);
  return faults;
}
