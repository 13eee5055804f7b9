/** Asking an agent for its card: what comes back, and how it is kept. */
import type { Db } from '../../store/database.ts';
import { encode } from '../../store/json.ts';
import { digestOf } from '../digest.ts';
import { type AgentCard, skillsOf } from './card.ts';
import type { AgentUpstream } from './server.ts';

export type CardResult =
  | { found: true; card: AgentCard; responseTimeMs: number; statusCode: number }
  | {
      found: false;
      /** `address`: it must not be called. `card`: what came is none. The rest tells how the agent failed. */
      fault: 'address' | 'card' | 'unreachable' | 'timeout';
      statusCode: number | null;
      responseTimeMs: number;
      error: string;
    };

export interface AgentCards {
  /** The card below an address that somebody typed in. */
  at(endpoint: string, headers: Readonly<Record<string, string>>, organisationId: string): Promise<CardResult>;
  /** The card of an integration, asked for with its credentials. `fresh`: not one that was fetched a minute ago. */
  of(upstream: AgentUpstream, options: { fresh: boolean }): Promise<CardResult>;
}

/** More than any agent has; what comes behind them is not kept. */
const mostSkills = 1_000;

/** Keeps a card and the skills that it lists; true when something is not as it was. A skill that is gone keeps its switches for a while. */
export async function saveCard(db: Db, now: Date, integrationId: string, card: AgentCard): Promise<boolean> {
  const at = now.toISOString();
  const digest = digestOf(card);
  const before = await db
    .selectFrom('agent_integrations')
    .select('card_digest')
    .where('id', '=', integrationId)
    .executeTakeFirst();
  await db
    .updateTable('agent_integrations')
    .set({
      agent_card: encode(card),
      card_digest: digest,
      card_status: 'fetched',
      card_fetched_at: at,
      card_error: null,
    })
    .where('id', '=', integrationId)
    .execute();
  if (before?.card_digest === digest) return false;
  const listed = new Map([...skillsOf(card)].slice(0, mostSkills));
  for (const [skillId, skill] of listed) {
    const columns = { definition: encode(skill), missing_since: null, last_updated_at: at };
    await db
      .insertInto('agent_skills')
      .values({ integration_id: integrationId, skill_id: skillId, enabled: 1, created_at: at, ...columns })
      .onConflict((conflict) => conflict.columns(['integration_id', 'skill_id']).doUpdateSet(columns))
      .execute();
  }
  const stored = await db
    .selectFrom('agent_skills')
    .select('skill_id')
    .where('integration_id', '=', integrationId)
    .where('missing_since', 'is', null)
    .execute();
  for (const { skill_id } of stored) {
    if (listed.has(skill_id)) continue;
    await db
      .updateTable('agent_skills')
      .set({ missing_since: at })
      .where('integration_id', '=', integrationId)
      .where('skill_id', '=', skill_id)
      .execute();
  }
  return true;
}

export async function noteCardFailure(db: Db, integrationId: string, error: string): Promise<void> {
  await db
    .updateTable('agent_integrations')
    .set({ card_status: 'failed', card_error: error.slice(0, 1_024) })
    .where('id', '=', integrationId)
    .execute();
}

/** Keeps what a fetch came to; true when the catalog changed. */
export async function keepCard(db: Db, now: Date, integrationId: string, result: CardResult): Promise<boolean> {
  if (result.found) return saveCard(db, now, integrationId, result.card);
  await noteCardFailure(db, integrationId, result.error);
  return false;
}
