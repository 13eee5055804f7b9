/** A routing config, compiled: a frozen tree that a request walks without looking anything up. Inheritance is already resolved in it. */
import type { TargetFields } from '../providers/provider.ts';
import type { Query } from './conditions.ts';
import type { ParameterPath } from './parameters.ts';
import type { TargetLimits } from './target-limits.ts';

export interface Plan {
  /** The saved config's id, or a digest of an inline one: what breakers and sticky sessions are kept under. */
  id: string;
  /** Null for inline configs and for requests that name only a provider. */
  saved: { configId: string; slug: string; versionId: string } | null;
  root: PlanNode;
  /** `/models` answers with the integrated list although the plan names providers. */
  fetchIntegratedModels: boolean;
  /** The whole request goes through unchanged. */
  passthrough: boolean;
  /** The config, or a target in it, asks in so many words for answers with OpenAI's own fields alone. */
  asksStrict: boolean;
  /** Request metadata that the config adds. */
  metadata: Readonly<Record<string, string>>;
  /** Unknown keys of an inline config, noted in the log. */
  ignoredKeys: readonly string[];
  /** What is too much in the config for this installation; null when nothing is. Asked when it is used, not when it is saved. */
  exceeds(limits: TargetLimits): string | null;
  /** What in the config can never have an effect, such as a condition with an unknown operator; noted in the log. */
  warnings: readonly string[];
}

export type PlanNode = Strategy | Leaf;

interface NodeBase {
  /** `config`, `config.targets[1]`, `config.targets[0].targets[2]`. */
  path: string;
  name: string | null;
  /** Its share under a loadbalance parent. */
  weight: number;
  /** When this node counts as broken; null: it is never judged. */
  breaker: BreakerRule | null;
}

export interface Strategy extends NodeBase {
  kind: 'strategy';
  mode: 'single' | 'fallback' | 'loadbalance' | 'conditional';
  children: readonly PlanNode[];
  /** The statuses on which fallback goes on; null: every status outside 2xx. */
  onStatus: ReadonlySet<number> | null;
  /** Conditional: the index of the child for each query, in order. */
  conditions: readonly { query: Query; child: number }[];
  /** Conditional: the child when no query holds. */
  defaultChild: number | null;
  sticky: { fields: readonly string[]; ttlSeconds: number } | null;
  /** Fallback: a stream that broke after its start goes on with the next child. */
  recoverStreams: boolean;
}

/** Which provider a leaf calls. */
export type LeafProvider =
  | { from: 'saved'; slug: string; model: string | null }
  | { from: 'inline'; provider: string; credential: string | null; fields: TargetFields }
  /** The request itself names it: by header, or by the prefix of its model. */
  | { from: 'request' };

export interface Leaf extends NodeBase {
  kind: 'leaf';
  provider: LeafProvider;
  /** Marked `passthrough` in the config: the provider comes from the request. */
  passthrough: boolean;
  promptId: string | null;
  retry: RetryRule | null;
  /** Milliseconds for each attempt; null: the process default. */
  requestTimeout: number | null;
  /** Milliseconds until the first byte of a stream's body. */
  firstTokenTimeout: number | null;
  /** Milliseconds of silence inside a stream. */
  streamIdleTimeout: number | null;
  cache: CacheRule | null;
  defaultParams: Readonly<Record<string, unknown>> | null;
  overrideParams: Readonly<Record<string, unknown>> | null;
  dropParams: readonly ParameterPath[];
  customHost: string | null;
  forwardHeaders: readonly { from: string; to: string }[];
  strictOpenAiCompliance: boolean;
  /** Hooks and guardrails as the config wrote them; the guardrail engine compiles them. */
  hooks: { before: readonly unknown[]; after: readonly unknown[] };
  /** The metadata of the config and of the targets down to this one, the nearest winning: for its log record and its guardrails. */
  metadata: Readonly<Record<string, string>>;
  /** Provider options of the config level: `azure_entra_scope`, `anthropic_beta` and the like. */
  fields: TargetFields;
}

export interface RetryRule {
  attempts: number;
  onStatus: ReadonlySet<number>;
  useRetryAfter: boolean;
}

export interface CacheRule {
  mode: 'simple' | 'semantic';
  maxAgeSeconds: number | null;
  /** Equal calls that are under way together share one. */
  coalesce: boolean;
  /** How alike two questions must be in semantic mode; null: as the installation says. */
  threshold: number | null;
  /** The share of semantic hits for which the target is asked all the same, to see whether they were right. */
  verify: number;
}

export interface BreakerRule {
  failureThreshold: number | null;
  failurePercentage: number | null;
  minimumRequests: number;
  cooldownMs: number;
  /** Null: every status from 500 up. */
  failureStatus: ReadonlySet<number> | null;
}
