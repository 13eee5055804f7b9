/** What guardrails said of one target of a request, from its input to its answer. */
import type { Guards } from '../../catalog/guards.ts';
import type { HookResult, HookResults } from '../../guardrails/results.ts';
import type { GuardrailSummary } from '../../logs/record.ts';
import type { JsonObject } from '../../providers/provider.ts';
import type { Restores } from './restoring.ts';

export interface GuardState {
  readonly guards: Guards;
  /** The request as it went on, for checks of its answer. */
  request: JsonObject;
  requestTransformed: boolean;
  before: readonly HookResult[];
  after: readonly HookResult[];
  inputFailed: boolean;
  outputFailed: boolean;
  softDenied: boolean;
  restores: Restores | null;
  /** What async hooks said; it arrives later and goes into the log only. */
  asyncResults: { before: readonly HookResult[]; after: readonly HookResult[] };
  /** Async hooks that still run. */
  pending: Promise<void>[];
}

export const newGuardState = (guards: Guards, request: JsonObject): GuardState => ({
  guards,
  request,
  requestTransformed: false,
  before: [],
  after: [],
  inputFailed: false,
  outputFailed: false,
  softDenied: false,
  restores: null,
  asyncResults: { before: [], after: [] },
  pending: [],
});

/** As the client may see them. */
export const hookResults = (state: GuardState): HookResults => ({
  before_request_hooks: state.before,
  after_request_hooks: toldResults(state),
});

/** Results quote the answer: where a part of it was withheld or replaced, clients are told the verdicts without the quotes. */
export function toldResults({ after }: GuardState): readonly HookResult[] {
  if (!after.some(({ deny, transformed }) => deny || transformed)) return after;
  return after.map((result) => ({
    ...result,
    checks: result.checks.map((check) => ({ ...check, data: unquoted(check.data), log: null })),
  }));
}

const unquoted = (data: JsonObject | null): JsonObject | null => {
  if (data === null) return null;
  const { verdict, explanation } = data;
  return { ...(typeof verdict === 'boolean' && { verdict }), ...(typeof explanation === 'string' && { explanation }) };
};

/** The verdict of all hooks together; null where none ran. */
export function guardrailSummary(state: GuardState): GuardrailSummary | null {
  const { before_request_hooks, after_request_hooks } = loggedResults(state);
  const results = [...before_request_hooks, ...after_request_hooks];
  if (results.length === 0) return null;
  return {
    verdict: results.every(({ verdict }) => verdict),
    denied: results.some(({ deny }) => deny),
    soft_denied: state.softDenied,
  };
}

/** For the log: sync and async alike. */
export const loggedResults = ({ before, after, asyncResults }: GuardState): HookResults => ({
  before_request_hooks: [...before, ...asyncResults.before],
  after_request_hooks: [...after, ...asyncResults.after],
});
