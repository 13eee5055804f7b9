/** A month and a half of calls for the tests of log stores. */
import type { LogRecord } from '../src/logs/record.ts';
import { jsonMessage, logRecord } from './log-records.ts';

export const start = Date.parse('2026-05-20T00:00:00Z');
export const hour = 3_600_000;
export const models = ['gpt-4o', 'gpt-4o-mini', 'claude-sonnet'];

/** A month and a half of calls, so that two months are touched; every figure follows from the number of the call. */
export function sampleRecords(count: number): LogRecord[] {
  return Array.from({ length: count }, (_, at) => {
    const model = models[at % 3] ?? '';
    const failed = at % 10 === 9;
    const hit = at % 7 === 3;
    const created = start + Math.floor((at * 36 * 24 * hour) / count);
    return logRecord(
      {
        id: idAt(created, at),
        trace_id: `trace-${Math.floor(at / 2)}`,
        workspace_id: at % 4 === 0 ? 'workspace-2' : 'workspace-1',
        workspace_slug: at % 4 === 0 ? 'second' : 'first',
        user_id: at % 5 === 0 ? 'person-1' : null,
        api_key_id: `key-${at % 2}`,
        created_at: created,
        ai_org: model.startsWith('gpt') ? 'openai' : 'anthropic',
        ai_model: model,
        is_success: !failed,
        response_status_code: failed ? (at % 20 === 9 ? 500 : 429) : 200,
        error_message: failed ? `Provider said no to call ${at}` : null,
        cost: failed ? 0 : (at % 100) * 0.000_123_457,
        saved_cost: hit ? 0.5 : 0,
        cost_known: at % 9 !== 4,
        timings:
          at % 2 === 1
            ? { request_parsing: 0.125, pre_processing: at / 1_000, cache_processing: null, response_parsing: 2 }
            : null,
        req_units: at % 50,
        res_units: at % 20,
        total_units: (at % 50) + (at % 20),
        response_time: 10 + (at % 500) * 7.25,
        cache_status: hit ? (at % 2 === 0 ? 'SEMANTIC HIT' : 'HIT') : 'MISS',
        retry_success_count: at % 11 === 0 ? 1 : 0,
        mode: at % 13 === 0 ? 'fallback' : 'single',
        last_used_option_index: at % 13 === 0 ? 1 : 0,
        prompt_slug: at % 6 === 0 ? 'greeting' : '',
        metadata: { _user: `user-${at % 17}`, environment: at % 2 === 0 ? 'prod' : 'staging' },
        attempt: { rule: 'single', after: [], retries: [], waited_ms: 0 },
        guardrails: at % 3 === 0 ? { verdict: !failed, denied: failed, soft_denied: false } : null,
      },
      {
        request: jsonMessage({ model, messages: [{ role: 'user', content: `Question number ${at}, Ünïcode` }] }),
        response: jsonMessage({ choices: [{ message: { content: `Answer ${at} with the word zebra${at % 40}` } }] }),
        ...(at % 3 === 0 && { hookResults: jsonMessage(hookResultsOf(at)) }),
      },
    );
  });
}

export const hookResultsOf = (at: number) => ({
  before_request_hooks: [{ id: `guard-${at}`, verdict: true, deny: false, checks: [] }],
  after_request_hooks: [],
});

/** A time-ordered id of its own for each record. */
export const idAt = (ms: number, at: number): string => {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${String(at).padStart(12, '0')}`;
};
