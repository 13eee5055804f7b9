/** Stored agent integrations and their skills as callers see them. */
import type { z } from 'zod';
import { decode } from '../../store/json.ts';
import type { AgentIntegrationTable, AgentSkillTable } from '../../store/tables/agents.ts';
import type { Vault } from '../../store/vault.ts';
import { agentFamily } from '../provisioning/family.ts';
import { integrationFields } from '../provisioning/integrations.ts';
import type { agentIntegrationRecord, skillRecord } from './schema.ts';

export const asAgentIntegration = (
  row: AgentIntegrationTable,
  vault: Vault,
): z.output<ReturnType<typeof agentIntegrationRecord>> => ({
  ...integrationFields(agentFamily, row, vault),
  protocol: row.protocol,
  auth_type: row.auth_type,
  agent_card: row.agent_card && { ...decode(row.agent_card) },
  card_status: row.card_status,
  card_fetched_at: row.card_fetched_at,
  card_error: row.card_error,
});

export function asSkill(row: AgentSkillTable): z.output<ReturnType<typeof skillRecord>> {
  const skill = decode(row.definition);
  const text = (field: string): string | null => (typeof skill[field] === 'string' ? skill[field] : null);
  const list = (field: string): unknown[] => (Array.isArray(skill[field]) ? skill[field] : []);
  const texts = (field: string): string[] => list(field).filter((item) => typeof item === 'string');
  return {
    id: row.skill_id,
    name: text('name'),
    description: text('description'),
    tags: texts('tags'),
    examples: list('examples'),
    input_modes: texts('inputModes'),
    output_modes: texts('outputModes'),
    enabled: row.enabled === 1,
    missing_since: row.missing_since,
    created_at: row.created_at,
    last_updated_at: row.last_updated_at,
  };
}
