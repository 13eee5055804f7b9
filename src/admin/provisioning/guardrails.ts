/** The guardrails that an MCP integration or one of its servers names for tool calls. */
import { z } from 'zod';
import { type GuardrailIndex, usableGuardrail } from '../../catalog/references.ts';
import { invalid } from '../../http/errors.ts';
import type { Db } from '../../store/database.ts';
import { encode } from '../../store/json.ts';
import type { McpServerTable } from '../../store/tables/mcp.ts';

const directions = ['input_guardrails', 'output_guardrails'] as const;
export type ServerGuardrails = Partial<Pick<McpServerTable, (typeof directions)[number]>>;

type Sent = { [name in (typeof directions)[number]]?: readonly string[] | null | undefined };

interface Place {
  db: Db;
  guardrails: GuardrailIndex;
  organisationId: string;
  /** Null: the organisation itself. */
  workspaceId: string | null;
}

const inSettings = z.object({
  input_guardrails: z.array(z.string()).nullish(),
  output_guardrails: z.array(z.string()).nullish(),
});

/** Throws where the settings of an integration name a guardrail that leads nowhere. */
export const requireGuardrailsIn = (place: Place, settings: Readonly<Record<string, unknown>>): Promise<void> =>
  requireGuardrails(place, inSettings.parse(settings), 'configurations.');

/** Throws for a name that leads nowhere; `above` is the field that holds the lists. */
async function requireGuardrails(place: Place, sent: Sent, above = ''): Promise<void> {
  const { db, guardrails, organisationId, workspaceId } = place;
  for (const direction of directions) {
    for (const [index, reference] of (sent[direction] ?? []).entries()) {
      const found =
        workspaceId === null
          ? await guardrails.find(db, organisationId, null, reference)
          : await usableGuardrail(guardrails, db, organisationId, workspaceId, reference);
      if (!found)
        throw invalid(`${above}${direction}.${index}`, `"${reference}" names no guardrail that can be used here`);
    }
  }
}

/** The columns for what was sent; nothing for what was not. */
export async function storedGuardrails(place: Place, sent: Sent): Promise<ServerGuardrails> {
  await requireGuardrails(place, sent);
  const columns: ServerGuardrails = {};
  for (const direction of directions) {
    const list = sent[direction];
    if (list !== undefined) columns[direction] = list === null ? null : encode([...list]);
  }
  return columns;
}
