/** What can be asked of the log store, the same for every engine. */
import type { Latencies } from './latency.ts';
import type { KeptRecord, LogMetrics } from './record.ts';

/** The rows that the caller may see in one workspace; the scopes of a filter are alternatives. */
export interface LogScope {
  /** Null: every workspace of the organisation. */
  workspaceId: string | null;
  /** Set: only the calls that were made with this person's keys. */
  userId: string | null;
}

/** Inclusive on both sides. */
export interface Range {
  min?: number;
  max?: number;
}

export const rangeFields = ['total_units', 'req_units', 'res_units', 'cost'] as const;
export type RangeField = (typeof rangeFields)[number];

/** The fields whose values a filter may list; a row matches when it has one of them. */
export const listFields = [
  'response_status_code',
  'virtual_key',
  'config',
  'prompt_slug',
  'api_key_id',
  'cache_status',
  'ai_model',
  'source',
  'mcp_server',
  'mcp_method',
  'mcp_tool',
] as const;
export type ListField = (typeof listFields)[number];

/** All conditions hold together. */
export interface LogFilter {
  organisationId: string;
  scopes: readonly LogScope[];
  /** When the request arrived, in ms since the epoch: `from` belongs to the range, `to` does not. */
  from: number;
  to: number;
  ranges?: Partial<Record<RangeField, Range>>;
  values?: Partial<Record<ListField, readonly string[]>>;
  /** Pairs of provider and model; a null model stands for all of the provider. */
  models?: readonly { org: string; model: string | null }[];
  traceIds?: readonly string[];
  spanIds?: readonly string[];
  /** Every pair must be among the row's metadata. */
  metadata?: Readonly<Record<string, string>>;
  /** The weighted average of the feedback on the row's trace; rows without feedback do not match. */
  feedback?: Range;
  /** A text anywhere in the bodies or in the error, whatever its case. */
  search?: string;
}

export const sortFields = ['created_at', 'cost', 'total_units', 'response_time'] as const;
export type SortField = (typeof sortFields)[number];

/** The place of a row in a sorted list. */
export interface Cursor {
  value: number;
  id: string;
}

export interface ListQuery {
  filter: LogFilter;
  sort: SortField;
  descending: boolean;
  offset: number;
  /** Rows strictly behind this one, instead of an offset. */
  after?: Cursor;
  limit: number;
}

/** A row of a list: the metrics, and the beginnings of what was asked and answered. */
export interface ListedLog {
  metrics: LogMetrics;
  promptPreview: string;
  answerPreview: string;
}

export interface LogPage {
  /** All rows that match, not only those of this page. */
  total: number;
  rows: ListedLog[];
}

/** The fields by which rows are grouped. */
export const groupFields = [
  'ai_org',
  'ai_model',
  'response_status_code',
  'api_key_id',
  'config',
  'workspace_slug',
  'virtual_key',
  'prompt_slug',
  'endpoint_type',
  'cache_status',
  'source',
  'mcp_server',
  'mcp_method',
  'mcp_tool',
  'user_id',
] as const;
export type GroupField = (typeof groupFields)[number];

/** One aggregate over all rows, one for each span between two edges, or one for each value. */
export type GroupBy =
  | { by: 'nothing' }
  | { by: 'time'; edges: readonly number[] }
  | { by: 'field'; field: GroupField }
  | { by: 'metadata'; key: string };

/** What costs more than the plain sums is worked out only where it is asked for. */
export type Measure = 'latencies' | 'users' | 'feedback';

/** The plain sums: each reads columns of its own. `latency` is the sum of response times, `seen` the first and the last call. */
export const plainSums = ['cost', 'saved', 'units', 'latency', 'seen'] as const;
export type PlainSum = (typeof plainSums)[number];

export interface AggregateQuery {
  filter: LogFilter;
  group: GroupBy;
  /** The sums that are used; an engine may answer others with zeros. Absent: all of them. */
  sums?: readonly PlainSum[];
  measures?: readonly Measure[];
}

/** Rows of one group that ended alike. */
export interface OutcomeCount {
  status: number;
  success: boolean;
  cacheStatus: string | null;
  /** The retry that succeeded; 0 where none was needed. */
  retry: number;
  /** True where an earlier target of a fallback had failed. */
  fallback: boolean;
  /** False where something was used that has no known price; the sums of costs lack it. */
  costKnown: boolean;
  requests: number;
  /** The sum of the response times, in ms. */
  latency: number;
}

export interface Aggregate {
  /** The value, or the start of the span; empty where nothing is grouped. */
  key: string | number;
  requests: number;
  /** In US cents, to nine decimals. */
  cost: number;
  reqUnits: number;
  resUnits: number;
  totalUnits: number;
  /** Of answers from the cache, in US cents. */
  savedBySimpleCache: number;
  savedBySemanticCache: number;
  /** In ms since the epoch. */
  firstSeen: number;
  lastSeen: number;
  outcomes: OutcomeCount[];
  /** With `latencies`: how many response times fell into each bucket of `latency.ts`. */
  latencies: Latencies;
  /** With `users`: how many different `_user` values. */
  users: number;
  /** With `feedback`: rows whose trace has feedback, and the weighted values of it. */
  feedback: { requests: number; weighted: number; weight: number };
}

/** Feedback on a trace. */
export interface Feedback {
  id: string;
  organisation_id: string;
  workspace_id: string;
  trace_id: string;
  value: number;
  weight: number;
  metadata: Readonly<Record<string, string>>;
  /** In ms since the epoch. */
  created_at: number;
}

/** A feedback among those that a filter chose, with the model that answered its trace, or an empty one. */
export interface CountedFeedback {
  value: number;
  weight: number;
  createdAt: number;
  model: string;
}

/** The values that the rows of a range have, for those who build a filter. */
export type OfferedValues = Record<
  'ai_org' | 'ai_model' | 'virtual_key' | 'config' | 'api_key_id' | 'prompt_slug',
  string[]
> & {
  response_status_code: number[];
  metadataKeys: string[];
};

/** Where records are read. A record is found from the moment it was appended; lists and sums follow within two seconds. */
export interface LogQueries {
  find(id: string): Promise<KeptRecord | null>;
  list(query: ListQuery): Promise<LogPage>;
  aggregate(query: AggregateQuery): Promise<Aggregate[]>;
  values(filter: LogFilter): Promise<OfferedValues>;
  /** The traces of the rows that the filter, which names traces, chooses. */
  traces(filter: LogFilter): Promise<string[]>;
  /** Stores new feedback, or a later state of it under the same id. */
  saveFeedback(feedback: readonly Feedback[]): Promise<void>;
  findFeedback(id: string): Promise<Feedback | null>;
  /** The feedback on a trace of a workspace, oldest first. */
  feedbackOnTrace(workspaceId: string, traceId: string): Promise<Feedback[]>;
  /** The feedback that was given in the range of the filter, on traces that have a row which matches all else. */
  feedback(filter: LogFilter): Promise<CountedFeedback[]>;
}

/** A query that took too long and was ended. */
export class QueryTimeout extends Error {
  constructor(readonly afterMs: number) {
    super(`The log store needed more than ${afterMs / 1000} s`);
  }
}

/** A log store that cannot be reached, or that failed before it answered. */
export class LogStoreAway extends Error {}
