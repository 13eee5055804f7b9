/** A filter as a condition in ClickHouse's SQL. Values travel as parameters, never inside the text. */
import { type LogFilter, type RangeField, rangeFields } from '../query.ts';

export interface Condition {
  sql: string;
  params: Record<string, unknown>;
}

/** The sums of the feedback on each trace; workspaces may use the same ids. */
export const feedbackByTrace = `
select workspace_id, trace_id, sum(value * weight) as weighted, sum(weight) as weights from gw_feedbacks final
where organisation_id = {organisation:String} group by workspace_id, trace_id`;

/** The engine knows the times up to the year 2286. */
export const knownTime = (ms: number): number => Math.min(1e13 - 1, Math.max(0, Math.ceil(ms)));

export function conditionOf(filter: LogFilter): Condition {
  const parts: string[] = [];
  const params: Record<string, unknown> = {
    organisation: filter.organisationId,
    from: knownTime(filter.from),
    to: knownTime(filter.to),
  };
  const param = (type: string, value: unknown): string => {
    const name = `p${Object.keys(params).length}`;
    params[name] = value;
    return `{${name}:${type}}`;
  };
  parts.push('organisation_id = {organisation:String}', scopesSql(filter, param));
  parts.push(
    'created_at >= fromUnixTimestamp64Milli({from:Int64})',
    'created_at < fromUnixTimestamp64Milli({to:Int64})',
  );
  for (const field of rangeFields) parts.push(...rangeSql(field, filter, param));
  for (const [field, listed] of Object.entries(filter.values ?? {})) {
    if (listed) parts.push(`toString(ifNull(${field}, '')) in ${param('Array(String)', listed)}`);
  }
  if (filter.models) {
    const pairs = filter.models.map(({ org, model }) =>
      model === null
        ? `ai_org = ${param('String', org)}`
        : `(ai_org = ${param('String', org)} and ai_model = ${param('String', model)})`,
    );
    parts.push(`(${pairs.join(' or ') || '0'})`);
  }
  if (filter.traceIds) parts.push(`trace_id in ${param('Array(String)', filter.traceIds)}`);
  if (filter.spanIds) parts.push(`span_id in ${param('Array(String)', filter.spanIds)}`);
  for (const [key, value] of Object.entries(filter.metadata ?? {})) {
    const name = param('String', key);
    parts.push(`mapContains(metadata, ${name}) and metadata[${name}] = ${param('String', value)}`);
  }
  if (filter.feedback) {
    const { min = -10, max = 10 } = filter.feedback;
    parts.push(
      `(workspace_id, trace_id) in (select workspace_id, trace_id from (${feedbackByTrace})
        where if(weights = 0, 0, weighted / weights) between ${param('Float64', min)} and ${param('Float64', max)})`,
    );
  }
  if (filter.search) parts.push(searchSql(param('String', `%${likeText(filter.search.toLowerCase())}%`)));
  return { sql: parts.join('\n  and '), params };
}

type Param = (type: string, value: unknown) => string;

function scopesSql({ scopes }: LogFilter, param: Param): string {
  const alternatives = scopes.map(({ workspaceId, userId }) => {
    const inside = workspaceId === null ? '1' : `workspace_id = ${param('String', workspaceId)}`;
    return userId === null ? inside : `(${inside} and user_id = ${param('String', userId)})`;
  });
  return `(${alternatives.join(' or ') || '0'})`;
}

function rangeSql(field: RangeField, { ranges }: LogFilter, param: Param): string[] {
  const { min, max } = ranges?.[field] ?? {};
  const type = field === 'cost' ? 'Decimal(38, 9)' : 'Float64';
  const value = (bound: number) => (field === 'cost' ? bound.toFixed(9) : bound);
  return [
    ...(min === undefined ? [] : [`${field} >= ${param(type, value(min))}`]),
    ...(max === undefined ? [] : [`${field} <= ${param(type, value(max))}`]),
  ];
}

const searchSql = (pattern: string): string => `(
  lowerUTF8(concat(prompt_preview, ' ', answer_preview, ' ', ifNull(error_message, ''))) like ${pattern}
  or id in (
    select id from gw_log_bodies where organisation_id = {organisation:String}
      and created_at >= fromUnixTimestamp64Milli({from:Int64}) and created_at < fromUnixTimestamp64Milli({to:Int64})
      and (lowerUTF8(concat(request, ' ', response)) like ${pattern}
        or lowerUTF8(concat(transformed_request, ' ', original_response)) like ${pattern})))`;

const likeText = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('%', '\\%').replaceAll('_', '\\_');
