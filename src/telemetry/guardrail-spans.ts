/** Guardrail checks as spans, in the namespace `gw.guardrail.*`. */
import type { Attributes } from '@opentelemetry/api';
import type { CheckRow, HookResult, HookResults } from '../guardrails/results.ts';

export interface CheckSpan {
  name: string;
  startedAt: number;
  durationMs: number;
  attributes: Attributes;
  /** Null where the check ran as it should. */
  error: string | null;
}

/** One span for each check, in the order in which their hooks stand. */
export const checkSpans = (hooks: HookResults, wasSoft: boolean): CheckSpan[] => [
  ...hooks.before_request_hooks.flatMap((hook) => spansOf(hook, 'input', wasSoft)),
  ...hooks.after_request_hooks.flatMap((hook) => spansOf(hook, 'output', wasSoft)),
];

const spansOf = (hook: HookResult, phase: 'input' | 'output', wasSoft: boolean): CheckSpan[] =>
  hook.checks.map((check) => ({
    name: `gw.guardrail ${check.id}`,
    startedAt: Date.parse(check.created_at),
    durationMs: check.execution_time,
    attributes: { ...attributesOf(hook, check, phase), 'gw.guardrail.action': actionOf(hook, wasSoft) },
    error: check.error?.name ?? null,
  }));

/** What a check says of the text is left out: it quotes the text. */
const attributesOf = (hook: HookResult, check: CheckRow, phase: string): Attributes => ({
  'gw.guardrail.id': hook.id,
  'gw.guardrail.type': hook.type,
  'gw.guardrail.phase': phase,
  'gw.guardrail.verdict': hook.verdict,
  'gw.guardrail.deny': hook.deny,
  'gw.guardrail.async': hook.async,
  'gw.guardrail.check.id': check.id,
  'gw.guardrail.check.verdict': check.verdict,
  'gw.guardrail.check.transformed': check.transformed,
  'gw.guardrail.check.execution_time_ms': check.execution_time,
  ...(check.error && { 'error.type': check.error.name }),
});

/** What the guardrail did with the request or its answer. */
function actionOf({ deny, transformed, verdict }: HookResult, wasSoft: boolean): string {
  if (deny) return wasSoft ? 'soft_deny' : 'deny';
  if (transformed) return 'transform';
  return verdict ? 'allow' : 'report';
}
