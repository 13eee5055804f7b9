/** Filters of logs, each with the records that it matches. */
import type { LogFilter } from '../src/logs/query.ts';
import type { LogMetrics } from '../src/logs/record.ts';
import { hour, start } from './sample-log-records.ts';

export const filterCases: [string, Partial<LogFilter>, (record: LogMetrics, at: number) => boolean][] = [
  [
    'a span of time',
    { from: start + hour, to: start + 50 * hour },
    (r) => r.created_at >= start + hour && r.created_at < start + 50 * hour,
  ],
  ['a workspace', { scopes: [{ workspaceId: 'workspace-2', userId: null }] }, (r) => r.workspace_id === 'workspace-2'],
  [
    'own calls',
    { scopes: [{ workspaceId: 'workspace-1', userId: 'person-1' }] },
    (r) => r.workspace_id === 'workspace-1' && r.user_id === 'person-1',
  ],
  [
    'several scopes',
    {
      scopes: [
        { workspaceId: 'workspace-1', userId: 'person-1' },
        { workspaceId: 'workspace-2', userId: null },
      ],
    },
    (r) => r.workspace_id === 'workspace-2' || r.user_id === 'person-1',
  ],
  ['no scope', { scopes: [] }, () => false],
  ['another organisation', { organisationId: 'organisation-2' }, () => false],
  ['costs', { ranges: { cost: { min: 0.001, max: 0.01 } } }, (r) => r.cost >= 0.001 && r.cost <= 0.01],
  [
    'tokens',
    { ranges: { total_units: { min: 30 }, req_units: { max: 40 }, res_units: { min: 5, max: 15 } } },
    (r) => r.total_units >= 30 && r.req_units <= 40 && r.res_units >= 5 && r.res_units <= 15,
  ],
  ['states', { values: { response_status_code: ['429', '500'] } }, (r) => r.response_status_code > 200],
  [
    'keys and prompts',
    { values: { api_key_id: ['key-1'], prompt_slug: ['greeting', 'other'] } },
    (r) => r.api_key_id === 'key-1' && r.prompt_slug === 'greeting',
  ],
  ['cache states', { values: { cache_status: ['HIT'] } }, (r) => r.cache_status === 'HIT'],
  [
    'models',
    {
      models: [
        { org: 'openai', model: 'gpt-4o' },
        { org: 'anthropic', model: null },
      ],
    },
    (r) => r.ai_model !== 'gpt-4o-mini',
  ],
  ['traces', { traceIds: ['trace-7', 'trace-3000', 'none'] }, (r) => ['trace-7', 'trace-3000'].includes(r.trace_id)],
  ['spans', { spanIds: ['span-1'], from: start, to: start + hour }, (r) => r.created_at < start + hour],
  [
    'metadata',
    { metadata: { _user: 'user-3', environment: 'prod' } },
    (r) => r.metadata._user === 'user-3' && r.metadata.environment === 'prod',
  ],
  ['metadata that no row has', { metadata: { "_user' or 1": 'x' } }, () => false],
  ['feedback', { feedback: { min: 5 } }, (r) => r.trace_id === 'trace-10' && r.workspace_id === 'workspace-1'],
  ['a text of an answer', { search: 'ZEBRA17' }, (_, at) => at % 40 === 17],
  ['a text of an error', { search: 'no to call 6' }, (r, at) => !r.is_success && String(at).startsWith('6')],
  ['a text with wildcards', { search: '100%_' }, () => false],
  ['a text beyond ASCII', { search: 'number 77, ünï' }, (_, at) => at === 77],
];
