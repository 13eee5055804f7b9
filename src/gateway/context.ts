/** One request on its way through the stages: what each of them found out. */
import type { WorkspaceCatalog } from '../catalog/catalog.ts';
import type { CacheRule, Leaf, Plan, RetryRule } from '../catalog/plan.ts';
import type { GatewaySettings } from '../environment.ts';
import type { KeyCaller } from '../identity/caller.ts';
import type { Limit } from '../limits/limit.ts';
import type { McpDetails } from '../logs/record.ts';
import type { Incoming } from '../wire/server/incoming.ts';
import type { GatewayError } from './errors.ts';
import type { ClientBody, JsonBody } from './request/body.ts';
import type { OwnHeaders } from './request/headers.ts';
import type { MatchedRoute } from './request/routes.ts';

/** Known from the moment the request is received. */
export interface Arrival {
  request: Incoming;
  own: OwnHeaders;
  matched: MatchedRoute;
  /** As the client asked: path with version, and query with its question mark. */
  path: string;
  query: string;
  receivedAt: number;
  /** Monotonic, for durations. */
  startedAt: number;
  requestId: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  /** What `traceparent` says of its trace; null where the request does not stand in one. */
  parentSampled: boolean | null;
  spanName: string;
}

/** The saved prompt that a request runs. */
export interface PromptUse {
  id: string;
  slug: string;
  versionId: string;
  /** The slug of its saved provider. */
  provider: string;
  /** The workspace that owns it; its provider is one of that workspace. */
  home: WorkspaceCatalog;
  /** The rendered prompt with the client's overrides. */
  body: JsonBody;
  variables: Readonly<Record<string, unknown>>;
  overrides: Readonly<Record<string, unknown>>;
  /** Prompts that targets of the config run in its place. */
  swaps?: ReadonlyMap<string, PromptUse | GatewayError>;
}

/** Where the caller stands. */
export interface Identified extends Arrival {
  /** When the caller was known, on the clock of `startedAt`. */
  identifiedAt: number;
  /** Where the client named a saved prompt instead of sending a body of its own. */
  prompt?: PromptUse;
  caller: KeyCaller;
  workspace: WorkspaceCatalog;
  /** The header that carried our key. */
  credentialHeader: string;
  /** Every header in which our key stands, for none of them may travel on. */
  keyHeaders: ReadonlySet<string>;
}

/** What headers set for every target of the request, over whatever the config says. */
export interface HeaderRules {
  requestTimeout: number | null;
  customHost: string | null;
  forwardHeaders: readonly { from: string; to: string }[] | null;
  /** Only `false` counts: `true` cannot undo a config's `false`. */
  strictOff: boolean;
  /** Counts where the config says nothing of retries. */
  retry: RetryRule | null;
  /** Counts where the config says nothing of caches. */
  cache: CacheRule | null;
  debug: boolean;
}

/** The provider that the request itself names, beside or instead of a config. */
export interface RequestProvider {
  /** A saved provider's slug, without the @. */
  savedSlug: string | null;
  /** A provider by its own name, with the credential in the request. */
  name: string | null;
  credential: string | null;
  /** A model given with the provider: `@slug/model`. */
  model: string | null;
}

/** What is called where that is no model: an MCP server or an agent. */
export interface ServiceCall {
  /** Stands in place of a provider in logs. */
  kind: 'mcp' | 'agent';
  slug: string;
  integrationId: string | null;
  url: string;
  /** The operation in the words of its protocol: `tools/call`. */
  method: string;
  /** The tool, or empty. */
  tool: string;
  /** Limits of its own. */
  limits: readonly Limit[];
  /** False: the log keeps no bodies of this service. */
  keepsBodies: boolean;
  /** What the log tells of an MCP message. */
  mcp: McpDetails | null;
}

export interface RequestContext extends Identified {
  /** When all of this was known, on the clock of `startedAt`. */
  selectedAt: number;
  body: ClientBody;
  plan: Plan;
  rules: HeaderRules;
  provider: RequestProvider;
  metadata: Readonly<Record<string, string>>;
  /** What an upload is for, where that decides who keeps it; null where nobody needs to know. */
  purpose: string | null;
  /** Stands before the names of metadata that become labels on a cloud's bill. */
  labelPrefix: string;
  /** Buckets in which the gateway's own cloud identity may keep and read files. */
  lentBuckets: ReadonlySet<string>;
  /** Headers that the operator keeps from passing through. */
  ignoredHeaders: ReadonlySet<string>;
  /** Absent for model calls. */
  service?: ServiceCall;
}

/** How long one try may take: as the request says, else its target, else the installation. */
export const timeoutOf = (
  { settings }: { settings: Pick<GatewaySettings, 'requestTimeout'> },
  { rules }: RequestContext,
  leaf: Leaf,
): number => rules.requestTimeout ?? leaf.requestTimeout ?? settings.requestTimeout;
