/** A guardrail as callers read it. */
import type { GuardrailTable } from '../../store/tables/guardrails.ts';
import { type GuardrailContent, maskChecks } from './content.ts';

export function asListed({ version_id: _, ...row }: GuardrailTable) {
  return { ...row, object: 'guardrail' as const };
}

export const shownContent = ({ checks, actions }: GuardrailContent) => ({
  checks: maskChecks(checks).map((check) => ({ is_enabled: true, ...check })),
  actions,
});

export const asRecord = (row: GuardrailTable, content: GuardrailContent) => ({
  ...asListed(row),
  version_id: row.version_id,
  ...shownContent(content),
});
