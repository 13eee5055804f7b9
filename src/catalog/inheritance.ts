/** What a target takes over from those above it, and what it says itself: the nearest word counts. */
import type { TargetFields } from '../providers/provider.ts';
import type { ConfigBody } from './config-schema.ts';
import { type ParameterPath, parseParameterPath } from './parameters.ts';
import type { BreakerRule, CacheRule, Leaf, RetryRule } from './plan.ts';
import { inheritedFields } from './target-fields.ts';

/** The settings in force at a node, in the form in which leaves carry them. */
export interface InheritedSettings
  extends Pick<
    Leaf,
    | 'retry'
    | 'requestTimeout'
    | 'firstTokenTimeout'
    | 'streamIdleTimeout'
    | 'cache'
    | 'defaultParams'
    | 'overrideParams'
    | 'dropParams'
    | 'customHost'
    | 'forwardHeaders'
    | 'strictOpenAiCompliance'
    | 'hooks'
    | 'metadata'
    | 'fields'
  > {
  /** As configured; whether it applies to a node depends on where the node stands. */
  breaker: BreakerRule | null;
}

export const noSettings: InheritedSettings = Object.freeze({
  retry: null,
  requestTimeout: null,
  firstTokenTimeout: null,
  streamIdleTimeout: null,
  cache: null,
  defaultParams: null,
  overrideParams: null,
  dropParams: Object.freeze([]),
  customHost: null,
  forwardHeaders: Object.freeze([]),
  strictOpenAiCompliance: true,
  hooks: Object.freeze({ before: Object.freeze([]), after: Object.freeze([]) }),
  metadata: Object.freeze({}),
  fields: Object.freeze({}),
  breaker: null,
});

/** Single values, rules and lists: the nearest one as a whole. Parameters, metadata and provider options: merged, the nearer one wins a key. Dropped paths: all of them. */
export function inherit(above: InheritedSettings, node: ConfigBody): InheritedSettings {
  return {
    retry: node.retry ? retryRule(node.retry) : above.retry,
    requestTimeout: node.request_timeout ?? above.requestTimeout,
    firstTokenTimeout: node.first_token_timeout ?? above.firstTokenTimeout,
    streamIdleTimeout: node.stream_idle_timeout ?? above.streamIdleTimeout,
    cache: node.cache ? cacheRule(node.cache) : above.cache,
    defaultParams: merged(above.defaultParams, node.default_params),
    overrideParams: merged(above.overrideParams, node.override_params),
    dropParams: node.drop_params
      ? Object.freeze([...above.dropParams, ...pathsOf(node.drop_params)])
      : above.dropParams,
    customHost: node.custom_host ?? above.customHost,
    forwardHeaders: node.forward_headers ? frozenCopy(node.forward_headers) : above.forwardHeaders,
    strictOpenAiCompliance: node.strict_open_ai_compliance ?? above.strictOpenAiCompliance,
    hooks: hooksOf(above.hooks, node),
    metadata: merged(above.metadata, node.metadata) ?? above.metadata,
    fields: optionsOf(above.fields, node),
    breaker: node.cb_config ? breakerRule(node.cb_config) : above.breaker,
  };
}

const mostAttempts = 5;
const retriedByDefault: ReadonlySet<number> = new Set([429, 500, 502, 503, 504, 529]);

export function retryRule(retry: NonNullable<ConfigBody['retry']>): RetryRule {
  return Object.freeze({
    attempts: Math.min(retry.attempts ?? retry.max_attempts ?? 0, mostAttempts),
    onStatus: retry.on_status_codes ? new Set(retry.on_status_codes) : retriedByDefault,
    useRetryAfter: retry.use_retry_after_header ?? retry.use_retry_after_headers ?? false,
  });
}

const shortestAge = 60;
const longestAge = 7_776_000;

/** Null for `DISABLED`, which switches off what is inherited. */
export function cacheRule({
  mode,
  max_age: age,
  coalesce = false,
  similarity_threshold: threshold,
  verify = 0,
}: NonNullable<ConfigBody['cache']>): CacheRule | null {
  if (mode === 'DISABLED') return null;
  const maxAgeSeconds = age === undefined ? null : Math.min(Math.max(age, shortestAge), longestAge);
  return Object.freeze({ mode, maxAgeSeconds, coalesce, threshold: threshold ?? null, verify });
}

export function breakerRule(rule: NonNullable<ConfigBody['cb_config']>): BreakerRule {
  return Object.freeze({
    failureThreshold: rule.failure_threshold ?? null,
    failurePercentage: rule.failure_threshold_percentage ?? null,
    minimumRequests: rule.minimum_requests ?? 1,
    cooldownMs: rule.cooldown_interval,
    failureStatus: rule.failure_status_codes ? new Set(rule.failure_status_codes) : null,
  });
}

function merged<T>(
  above: Readonly<Record<string, T>> | null,
  own: Readonly<Record<string, T>> | undefined,
): Readonly<Record<string, T>> | null {
  return own ? Object.freeze({ ...above, ...frozenCopy(own) }) : above;
}

const pathsOf = (paths: readonly string[]): ParameterPath[] =>
  paths.map(parseParameterPath).filter((path) => path !== null);

/** All lists of one object for a phase make one list, which replaces the inherited one. */
function hooksOf(above: InheritedSettings['hooks'], node: ConfigBody): InheritedSettings['hooks'] {
  const before = listOf(node.before_request_hooks, node.input_guardrails, node.input_mutators);
  const after = listOf(node.after_request_hooks, node.output_guardrails, node.output_mutators);
  return before || after ? Object.freeze({ before: before ?? above.before, after: after ?? above.after }) : above;
}

type Shorthands = ConfigBody['input_guardrails'];

function listOf(hooks: ConfigBody['before_request_hooks'], guardrails: Shorthands, mutators: Shorthands) {
  if (!hooks && !guardrails && !mutators) return null;
  // Side by side with guardrails a mutator must be told apart; what is named by id says itself what it is.
  const marked = mutators?.map((mutator) => (typeof mutator === 'string' ? mutator : { ...mutator, type: 'mutator' }));
  return frozenCopy<unknown[]>([...(hooks ?? []), ...(guardrails ?? []), ...(marked ?? [])]);
}

const optionNames = inheritedFields.keyof().options;

function optionsOf(above: TargetFields, node: ConfigBody): TargetFields {
  const own = optionNames.flatMap((name) => (node[name] === undefined ? [] : [[name, node[name]] as const]));
  return own.length > 0 ? Object.freeze({ ...above, ...Object.fromEntries(own) }) : above;
}

/** A copy that no request can change for the next one. */
export function frozenCopy<T>(value: T): Readonly<T> {
  return deepFreeze(structuredClone(value));
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}
