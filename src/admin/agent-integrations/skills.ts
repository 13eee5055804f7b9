/** Skills of agent integrations and servers: rows for readers, and the rows that a switch names. */
import type { z } from 'zod';
import { notFound } from '../../http/errors.ts';
import type { Db } from '../../store/database.ts';
import type { AgentSkillTable } from '../../store/tables/agents.ts';
import type { Page } from '../kernel/endpoint.ts';
import { countOf, holdsInAnyCase } from '../kernel/lists/list-queries.ts';
import { asSkill } from './record.ts';
import type { SkillsUpdate, skillsList } from './schema.ts';

/** `switches`: a server's own switches, by the skill's id; null for the integration itself. */
export async function listSkills(
  db: Db,
  integrationId: string,
  search: string | undefined,
  page: Page,
  switches: ReadonlyMap<string, boolean> | null,
): Promise<z.output<ReturnType<typeof skillsList>>> {
  let matches = db.selectFrom('agent_skills').where('integration_id', '=', integrationId);
  if (search) matches = matches.where((eb) => holdsInAnyCase(eb.ref('skill_id'), search));
  const total = await countOf(matches);
  const rows = await matches.selectAll().orderBy('skill_id').limit(page.size).offset(page.offset).execute();
  return {
    data: rows.map((row) => ({
      ...asSkill(row),
      ...(switches && { enabled: switches.get(row.skill_id) ?? true, integration_enabled: row.enabled === 1 }),
    })),
    total,
    has_more: page.offset + rows.length < total,
  };
}

export async function namedSkills(
  db: Db,
  integrationId: string,
  { skills }: SkillsUpdate,
): Promise<{ row: AgentSkillTable; enabled: boolean }[]> {
  const rows = await db
    .selectFrom('agent_skills')
    .selectAll()
    .where('integration_id', '=', integrationId)
    .where(
      'skill_id',
      'in',
      skills.map(({ id }) => id),
    )
    .execute();
  const byId = new Map(rows.map((row) => [row.skill_id, row]));
  return skills.map(({ id, enabled }) => {
    const row = byId.get(id);
    if (!row) throw notFound(`skill: ${id}`);
    return { row, enabled };
  });
}
