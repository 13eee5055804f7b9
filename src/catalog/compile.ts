/** A routing config to the plan that requests walk: everything that can be decided without a request is decided here. */

import type { PatternRoom } from '../patterns/pattern.ts';
import type { TargetFields } from '../providers/provider.ts';
import { compileQuery, newPatternRoom } from './conditions.ts';
import type { ConfigBody } from './config-schema.ts';
import { strategyOf } from './effective-strategy.ts';
import { breakerRule, frozenCopy, type InheritedSettings, inherit, noSettings } from './inheritance.ts';
import type { BreakerRule, Leaf, LeafProvider, Plan, PlanNode, Strategy } from './plan.ts';
import { targetFields } from './target-fields.ts';
import { exceededTargetLimit, type TargetLimits } from './target-limits.ts';

export { parseConfig } from './parse-config.ts';

interface PlanIdentity {
  id: string;
  saved: Plan['saved'];
  ignoredKeys?: readonly string[];
}

/** Compiles a config that `parseConfig` accepted. The config's own `id` is not used: state kept under a name of the caller's choice could be another's. */
export function compileConfig(config: ConfigBody, identity: PlanIdentity): Plan {
  const notes: Notes = { warnings: [], room: newPatternRoom() };
  const root = compileNode(config, { path: 'config', above: noSettings, judged: false }, notes);
  return Object.freeze({
    id: identity.id,
    saved: identity.saved,
    root,
    fetchIntegratedModels: config.fetch_integrated_models ?? false,
    passthrough: config.passthrough ?? false,
    asksStrict: asksStrict(config),
    metadata: Object.freeze({ ...config.metadata }),
    ignoredKeys: Object.freeze([...(identity.ignoredKeys ?? [])]),
    exceeds: targetCheck(config),
    warnings: Object.freeze(notes.warnings),
  });
}

/** The plan of a request that names a provider and no config. */
export function planForProvider(provider: LeafProvider): Plan {
  return Object.freeze({
    id: provider.from,
    saved: null,
    root: leaf({}, { path: 'config', above: noSettings, judged: false }, noSettings, provider),
    fetchIntegratedModels: false,
    passthrough: false,
    asksStrict: false,
    metadata: noSettings.metadata,
    ignoredKeys: [],
    exceeds: () => null,
    warnings: [],
  });
}

const asksStrict = ({ strict_open_ai_compliance: strict, targets = [] }: ConfigBody): boolean =>
  strict === true || targets.some(asksStrict);

/** The limits are the installation's and stay the same while it runs, so the answer is found once. */
function targetCheck(config: ConfigBody): Plan['exceeds'] {
  let checked: { limits: TargetLimits; answer: string | null } | undefined;
  return (limits) => {
    if (checked?.limits !== limits) checked = { limits, answer: exceededTargetLimit(config, limits) };
    return checked.answer;
  };
}

/** What compiling finds on its way through the tree. */
interface Notes {
  warnings: string[];
  room: PatternRoom;
}

interface Place {
  path: string;
  above: InheritedSettings;
  /** Whether a breaker may take this node out: it is one of several that its parent can choose from by itself. */
  judged: boolean;
}

function compileNode(node: ConfigBody, place: Place, notes: Notes): PlanNode {
  const settings = inherit(place.above, node);
  const rule = strategyOf(node);
  if (rule) return strategy(node, rule, place, settings, notes);
  return leaf(node, place, settings, providerOf(node, settings));
}

function strategy(
  node: ConfigBody,
  rule: NonNullable<ConfigBody['strategy']>,
  place: Place,
  settings: InheritedSettings,
  notes: Notes,
): Strategy {
  const { mode } = rule;
  const targets = node.targets ?? [];
  const above = rule.cb_config ? { ...settings, breaker: breakerRule(rule.cb_config) } : settings;
  // A condition names the one child that fits; taking it away would send the request somewhere it does not belong.
  const judged = mode !== 'conditional';
  const children = targets.map((target, index) =>
    compileNode(target, { path: `${place.path}.targets[${index}]`, above, judged }, notes),
  );
  const onStatus = rule.on_status_codes ?? node.on_status_codes;
  const childNamed = (name: string): number => targets.findIndex((target) => target.name === name);
  return Object.freeze({
    kind: 'strategy',
    mode,
    ...nodeBase(node, place, settings.breaker),
    children: Object.freeze(children),
    onStatus: mode === 'fallback' && onStatus ? new Set(onStatus) : null,
    conditions: mode === 'conditional' ? conditions(rule, childNamed, place.path, notes) : Object.freeze([]),
    defaultChild: mode === 'conditional' && rule.default !== undefined ? childNamed(rule.default) : null,
    sticky:
      mode === 'loadbalance' && rule.sticky?.enabled
        ? Object.freeze({ fields: Object.freeze([...rule.sticky.hash_fields]), ttlSeconds: rule.sticky.ttl })
        : null,
    recoverStreams: mode === 'fallback' && (rule.recover_streams ?? true),
  });
}

function conditions(
  rule: NonNullable<ConfigBody['strategy']>,
  childNamed: (name: string) => number,
  path: string,
  notes: Notes,
): Strategy['conditions'] {
  const compiled = (rule.conditions ?? []).map((condition, index) => {
    const { query, warnings } = compileQuery(condition.query, notes.room);
    notes.warnings.push(...warnings.map((warning) => `${path}.strategy.conditions[${index}]: ${warning}`));
    return Object.freeze({ query, child: childNamed(condition.then) });
  });
  return Object.freeze(compiled);
}

/**
 * A saved provider that fails is left out for a while also where no config asks for it: a fallback should not make every request
 * wait for a target that is known to be down. One good reason to differ is one `cb_config` away.
 */
const defaultBreaker: BreakerRule = Object.freeze({
  failureThreshold: 5,
  failurePercentage: null,
  minimumRequests: 1,
  cooldownMs: 30_000,
  failureStatus: null,
});

function leaf(node: ConfigBody, place: Place, settings: InheritedSettings, provider: LeafProvider): Leaf {
  const { breaker, fields: options, ...inForce } = settings;
  // An inline provider carries its own fields; beside any other they are options over what it has saved.
  const fields = provider.from === 'inline' ? options : { ...options, ...fieldsOf(node) };
  return Object.freeze({
    kind: 'leaf',
    ...nodeBase(node, place, breaker ?? (provider.from === 'saved' ? defaultBreaker : null)),
    provider: Object.freeze(provider),
    passthrough: node.passthrough ?? false,
    promptId: node.prompt_id ?? null,
    ...inForce,
    fields: Object.freeze(fields),
  });
}

const nodeBase = (node: ConfigBody, place: Place, breaker: BreakerRule | null) => ({
  path: place.path,
  name: node.name ?? null,
  weight: node.weight ?? 1,
  breaker: place.judged ? breaker : null,
});

/** Saved provider, raw provider, virtual key, prompt, prefix of the model, and at last the request itself. A virtual key beside a raw name supplies its credential. */
function providerOf(node: ConfigBody, settings: InheritedSettings): LeafProvider {
  const { provider, virtual_key: virtualKey } = node;
  if (provider?.startsWith('@')) return savedProvider(provider);
  if (virtualKey !== undefined) return { from: 'saved', slug: virtualKey.replace(/^@/, ''), model: null };
  if (provider !== undefined) {
    return { from: 'inline', provider, credential: node.api_key ?? null, fields: fieldsOf(node) };
  }
  const model = settings.overrideParams?.model;
  const namesProvider = typeof model === 'string' && /^@[^/]+\/./.test(model);
  return namesProvider && node.prompt_id === undefined ? savedProvider(model) : { from: 'request' };
}

/** `@slug` or `@slug/model`; the model begins after the first slash and may have more of them. */
function savedProvider(text: string): LeafProvider {
  const slash = text.indexOf('/');
  if (slash < 0) return { from: 'saved', slug: text.slice(1), model: null };
  return { from: 'saved', slug: text.slice(1, slash), model: text.slice(slash + 1) };
}

const fieldNames = targetFields.keyof().options;

function fieldsOf(node: ConfigBody): TargetFields {
  const own = fieldNames.filter((name) => node[name] !== undefined);
  return own.length === 0 ? noSettings.fields : frozenCopy(Object.fromEntries(own.map((name) => [name, node[name]])));
}
