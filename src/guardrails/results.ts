/** What is told of hooks that ran: in the body, in the stream, in the log and as feedback. Field names are the wire's. */
import type { JsonObject } from '../providers/provider.ts';
import type { CheckResult } from './check.ts';
import type { CompiledCheck, CompiledHook } from './compile.ts';

export interface RanCheck {
  compiled: CompiledCheck;
  result: CheckResult;
  transformed: boolean;
  startedAt: number;
  endedAt: number;
  /** Why a transformation could not be made. */
  note: string | null;
}

export interface CheckRow {
  id: string;
  verdict: boolean;
  data: JsonObject | null;
  error?: { name: string; message: string };
  execution_time: number;
  transformed: boolean;
  created_at: string;
  log: JsonObject | null;
  fail_on_error: boolean;
}

export interface FeedbackRow {
  value: number;
  weight: number;
  metadata: JsonObject;
}

export interface HookResult {
  verdict: boolean;
  id: string;
  type: 'guardrail' | 'mutator';
  transformed: boolean;
  checks: CheckRow[];
  feedback: FeedbackRow | null;
  execution_time: number;
  async: boolean;
  created_at: string;
  deny: boolean;
}

export interface HookResults {
  before_request_hooks: readonly HookResult[];
  after_request_hooks: readonly HookResult[];
}

/** A check with an error passes unless its author wants errors to fail it. */
export const passes = ({ compiled, result }: RanCheck): boolean =>
  compiled.failOnError ? result.verdict && !result.error : result.verdict || result.error !== undefined;

export function resultRow(
  hook: CompiledHook,
  checks: readonly RanCheck[],
  startedAt: number,
  endedAt: number,
): HookResult {
  const verdict = checks.every(passes);
  return {
    verdict,
    id: hook.id,
    type: hook.type,
    transformed: checks.some(({ transformed }) => transformed),
    checks: checks.map(checkRow),
    feedback: feedbackOf(hook, checks),
    execution_time: Math.round(endedAt - startedAt),
    async: hook.async,
    created_at: new Date(startedAt).toISOString(),
    deny: hook.deny && !verdict && hook.type === 'guardrail' && !hook.async,
  };
}

function checkRow({ compiled, result, transformed, startedAt, endedAt, note }: RanCheck): CheckRow {
  const error = result.error ?? (note === null ? undefined : { name: 'Transformation error', message: note });
  return {
    id: compiled.id,
    verdict: result.verdict,
    data: result.data,
    ...(error && { error }),
    execution_time: Math.round(endedAt - startedAt),
    transformed,
    created_at: new Date(startedAt).toISOString(),
    log: result.log ?? null,
    fail_on_error: compiled.failOnError,
  };
}

/** An error counts neither as success nor as failure. */
export function feedbackOf(hook: CompiledHook, checks: readonly RanCheck[]): FeedbackRow | null {
  const good = checks.every(({ result }) => result.verdict || result.error !== undefined);
  const chosen = good ? hook.onSuccess : hook.onFail;
  if (!chosen) return null;
  const named = (of: (ran: RanCheck) => boolean): string =>
    checks
      .filter(of)
      .map(({ compiled }) => compiled.id)
      .join(', ');
  return {
    value: chosen.value,
    weight: chosen.weight,
    metadata: {
      ...chosen.metadata,
      successfulChecks: named(({ result }) => !result.error && result.verdict),
      failedChecks: named(({ result }) => !result.error && !result.verdict),
      erroredChecks: named(({ result }) => result.error !== undefined),
    },
  };
}
