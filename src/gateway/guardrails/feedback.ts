/** Keeps the feedback that guardrails give on the trace of their call. */
import type { HookResult } from '../../guardrails/results.ts';
import type { Feedback } from '../../logs/query.ts';
import type { RequestContext } from '../context.ts';
import type { Settler } from '../settle/settlement.ts';
import { loggedResults } from './state.ts';

export function feedbackSettler(give: (feedback: readonly Feedback[]) => void, now: () => number): Settler {
  return ({ context, record }) => {
    if (!record.guard) return;
    const { before_request_hooks, after_request_hooks } = loggedResults(record.guard);
    const given = [...before_request_hooks, ...after_request_hooks].flatMap((result) => rowOf(result, context, now()));
    if (given.length > 0) give(given);
  };
}

function rowOf({ feedback }: HookResult, { caller, workspace, traceId }: RequestContext, at: number): Feedback[] {
  if (!feedback) return [];
  const { value, weight, metadata } = feedback;
  return [
    {
      id: Bun.randomUUIDv7(),
      organisation_id: caller.organisationId,
      workspace_id: workspace.workspaceId,
      trace_id: traceId,
      value,
      weight,
      metadata: Object.fromEntries(Object.entries(metadata).map(([name, text]) => [name, asText(text)])),
      created_at: at,
    },
  ];
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
