/** The policies of a workspace, compiled: a call finds those that may match it by their values, however many others there are. */
import { createHash } from 'node:crypto';
import type { RateUnit } from './calendar.ts';
import { type Limit, type LimitType, type LimitWindow, rateCounter, toUnits, usageCounter } from './limit.ts';
import {
  anyValue,
  isTargetKey,
  listOf,
  metadataPrefix,
  type PolicyCondition,
  type PolicyGroupKey,
  sharedValueKey,
} from './policy.ts';

/** What is known of a call. Facts of the target are there once one is chosen. */
export interface PolicyFacts {
  apiKeyId: string;
  organisationId: string;
  workspaceId: string;
  workspaceSlug: string;
  endpointType: string;
  metadata: Readonly<Record<string, string>>;
  config: string | null;
  /** The slug of the prompt that it runs. */
  prompt: string | null;
  target: TargetFacts | null;
  /** The MCP server or agent that is called; null for model calls. */
  service: ServiceFacts | null;
}

export interface ServiceFacts {
  /** Its slug. */
  server: string;
  /** Empty where no tool is called. */
  tool: string;
}

export interface TargetFacts {
  /** The slug of a saved provider. */
  virtualKey: string | null;
  provider: string;
  /** As the request names it, without a prefix of ours. */
  model: string;
}

export interface PolicySource {
  id: string;
  kind: 'rate' | 'usage';
  organisationId: string;
  name: string | null;
  conditions: readonly PolicyCondition[];
  groupBy: readonly PolicyGroupKey[];
  /** What it counts: model calls, or calls of MCP tools. */
  target: 'llm' | 'mcp_tools';
  type: LimitType;
  unit: RateUnit | null;
  value: number;
  window: LimitWindow;
  mode: 'enforce' | 'shadow';
  clampMaxTokens: boolean;
}

interface Test {
  key: string;
  any: boolean;
  values: ReadonlySet<string>;
  excludes: ReadonlySet<string>;
}

interface Compiled {
  order: number;
  source: PolicySource;
  tests: readonly Test[];
}

/** The policies of one stage, found by the rarest value that each asks for. */
class Stage {
  readonly #byValue = new Map<string, Map<string, Compiled[]>>();
  readonly #byPresence = new Map<string, Compiled[]>();

  constructor(policies: readonly Compiled[]) {
    const frequency = new Map<string, number>();
    for (const { tests } of policies) {
      for (const { key, values } of tests) {
        for (const value of values) count(frequency, `${key}\n${value}`);
      }
    }
    for (const policy of policies) {
      const chosen = rarest(policy.tests, frequency);
      if (!chosen) continue;
      if (chosen.any) grow(this.#byPresence, chosen.key, policy);
      else {
        const byValue = this.#byValue.get(chosen.key) ?? new Map<string, Compiled[]>();
        this.#byValue.set(chosen.key, byValue);
        for (const value of chosen.values) grow(byValue, value, policy);
      }
    }
  }

  get isEmpty(): boolean {
    return this.#byValue.size === 0 && this.#byPresence.size === 0;
  }

  match(facts: PolicyFacts): Compiled[] {
    const found: Compiled[] = [];
    for (const [key, byValue] of this.#byValue) {
      for (const value of factsOf(key, facts)) {
        for (const policy of byValue.get(value) ?? [])
          if (holds(policy, facts) && !found.includes(policy)) found.push(policy);
      }
    }
    for (const [key, policies] of this.#byPresence) {
      if (factsOf(key, facts).length === 0) continue;
      for (const policy of policies) if (holds(policy, facts)) found.push(policy);
    }
    return found.length > 1 ? found.sort((one, other) => one.order - other.order) : found;
  }
}

const count = (counts: Map<string, number>, key: string) => void counts.set(key, (counts.get(key) ?? 0) + 1);

function grow<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

/** The test that the fewest other policies share; one for any value only where there is no other. */
function rarest(tests: readonly Test[], frequency: ReadonlyMap<string, number>): Test | null {
  let best: Test | null = null;
  let shared = Number.POSITIVE_INFINITY;
  for (const test of tests) {
    const most = test.any
      ? Number.MAX_VALUE
      : Math.max(...[...test.values].map((value) => frequency.get(`${test.key}\n${value}`) ?? 0));
    if (most < shared) {
      best = test;
      shared = most;
    }
  }
  return best;
}

const holds = ({ tests }: Compiled, facts: PolicyFacts): boolean => tests.every((test) => passes(test, facts));

function passes({ key, any, values, excludes }: Test, facts: PolicyFacts): boolean {
  const given = factsOf(key, facts);
  if (given.length === 0) return false;
  if (excludes.size > 0 && given.some((value) => excludes.has(value))) return false;
  return any || given.some((value) => values.has(value));
}

/** The names under which a call has this fact; none when it has not. */
function factsOf(key: string, facts: PolicyFacts): readonly string[] {
  switch (key) {
    case 'api_key':
      return [facts.apiKeyId];
    case 'organisation_id':
      return [facts.organisationId];
    case 'workspace_id':
      return [facts.workspaceId, facts.workspaceSlug];
    case 'endpoint_type':
      return [facts.endpointType];
    case 'config':
      return present(facts.config);
    case 'prompt':
      return present(facts.prompt);
    case 'virtual_key':
      return present(facts.target?.virtualKey);
    case 'provider':
      return present(facts.target?.provider);
    case 'model':
      return modelNames(facts.target);
    case 'mcp_server':
      return present(facts.service?.server);
    case 'mcp_tool':
      return present(facts.service?.tool);
    default:
      return key.startsWith(metadataPrefix) ? present(facts.metadata[key.slice(metadataPrefix.length)]) : [];
  }
}

const present = (value: string | null | undefined): string[] =>
  value === null || value === undefined || value === '' ? [] : [value];

/** The first is the one that groups are named by. */
function modelNames(target: TargetFacts | null): string[] {
  if (!target || target.model === '') return [];
  const { virtualKey, model } = target;
  return virtualKey === null ? [model] : [`@${virtualKey}/${model}`, `@${virtualKey}/*`, model];
}

export class PolicyIndex {
  readonly #onRequest: Stage;
  readonly #onTarget: Stage;
  /** Those that count calls of services: of MCP tools, and those that name the type of such a call. */
  readonly #onTool: Stage;
  readonly #onService: Stage;

  constructor(policies: readonly PolicySource[]) {
    const compiled = policies.map(
      (source, order): Compiled => ({ source, order, tests: source.conditions.map(testOf) }),
    );
    const onModels = compiled.filter(({ source }) => source.target === 'llm');
    this.#onRequest = new Stage(onModels.filter(({ source }) => !needsTarget(source)));
    this.#onTarget = new Stage(onModels.filter(({ source }) => needsTarget(source)));
    this.#onTool = new Stage(compiled.filter(({ source }) => source.target === 'mcp_tools'));
    this.#onService = new Stage(onModels.filter(({ source }) => !needsTarget(source) && namesEndpoint(source)));
  }

  /** The limits that facts of the request alone decide. */
  onRequest(facts: PolicyFacts): Limit[] {
    if (facts.service) return this.#ofService(facts, facts.service);
    return this.#onRequest.isEmpty ? none : this.#onRequest.match(facts).map((policy) => limitOf(policy.source, facts));
  }

  #ofService(facts: PolicyFacts, { tool }: ServiceFacts): Limit[] {
    const found = [...(tool === '' ? [] : this.#onTool.match(facts)), ...this.#onService.match(facts)];
    return found.sort((one, other) => one.order - other.order).map(({ source }) => limitOf(source, facts));
  }

  /** The limits that need to know the target. */
  onTarget(facts: PolicyFacts): Limit[] {
    return this.#onTarget.isEmpty ? none : this.#onTarget.match(facts).map((policy) => limitOf(policy.source, facts));
  }

  get hasRequestPolicies(): boolean {
    return !this.#onRequest.isEmpty || !this.#onTool.isEmpty;
  }

  get hasTargetPolicies(): boolean {
    return !this.#onTarget.isEmpty;
  }
}

const none: Limit[] = [];

const testOf = ({ key, value, excludes }: PolicyCondition): Test => {
  const values = new Set(listOf(value));
  return { key, any: values.has(anyValue), values, excludes: new Set(listOf(excludes)) };
};

const needsTarget = ({ conditions, groupBy }: PolicySource): boolean =>
  conditions.some(({ key }) => isTargetKey(key)) || groupBy.some(({ key }) => isTargetKey(key));

/** A policy on models counts a call of a service only where it asks for that type of call. */
const namesEndpoint = ({ conditions }: PolicySource): boolean =>
  conditions.some(({ key, value }) => key === 'endpoint_type' && !listOf(value).includes(anyValue));

function limitOf(source: PolicySource, facts: PolicyFacts): Limit {
  return policyLimit(source, valueKeyOf(source.groupBy, facts));
}

/** The limit that counts one group of a policy. */
export function policyLimit(source: PolicySource, valueKey: string): Limit {
  const { id, organisationId, name, type, unit, value, window, mode, clampMaxTokens } = source;
  return {
    counter:
      unit === null ? usageCounter('policy', id, type, valueKey) : rateCounter('policy', id, type, unit, valueKey),
    organisationId,
    scope: 'policy',
    name: name ?? id,
    type,
    window,
    value: toUnits(type, value),
    mode,
    clampMaxTokens,
  };
}

const longestValueKey = 400;

/** `metadata.team:blue|api_key:...`; a missing fact counts in the group of the empty value. */
function valueKeyOf(groupBy: readonly PolicyGroupKey[], facts: PolicyFacts): string {
  if (groupBy.length === 0) return sharedValueKey;
  const text = groupBy.map(({ key }) => `${key}:${escaped(factsOf(key, facts)[0] ?? '')}`).join('|');
  if (text.length <= longestValueKey) return text;
  return `${text.slice(0, longestValueKey - 65)}~${createHash('sha256').update(text).digest('hex')}`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not stand in a name
const reserved = /[%|:\u0000-\u001f\u007f]/g;

const escaped = (value: string): string =>
  value.replace(reserved, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`);
