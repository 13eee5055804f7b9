/** From an organisation's row to what a reply shows of it. */
import type { z } from 'zod';
import type { GuardrailIndex } from '../../catalog/references.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { OrganisationTable } from '../../store/schema.ts';
import { showDefaults } from './defaults.ts';
import { type organisationRecord, type organisationSummary, overridesShown, type settingsRecord } from './schema.ts';

export const organisationRow = (db: Db, id: string): Promise<OrganisationTable> =>
  db.selectFrom('organisations').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

export const summaryOf = (
  row: Pick<OrganisationTable, 'id' | 'name' | 'slug' | 'default_workspace_id'>,
): z.input<ReturnType<typeof organisationSummary>> => ({
  object: 'organisation',
  id: row.id,
  name: row.name,
  slug: row.slug,
  default_workspace_id: row.default_workspace_id,
});

export const settingsShown = (
  row: Pick<OrganisationTable, 'settings' | 'workspace_overrides'>,
): z.input<ReturnType<typeof settingsRecord>> => ({
  ...decode(row.settings),
  workspace_overrides: overridesShown(decode(row.workspace_overrides)),
});

export async function recordOf(
  db: Db,
  guardrails: GuardrailIndex,
  organisationId: string,
): Promise<z.input<ReturnType<typeof organisationRecord>>> {
  const row = await organisationRow(db, organisationId);
  const owners = await db
    .selectFrom('organisation_members')
    .select('user_id')
    .where('organisation_id', '=', organisationId)
    .where('role', '=', 'owner')
    .where('status', '=', 'active')
    .orderBy('created_at')
    .orderBy('user_id')
    .execute();
  return {
    ...summaryOf(row),
    owner_ids: owners.map((owner) => owner.user_id),
    default_jwt_workspace_id: row.default_jwt_workspace_id,
    gateway_url: row.gateway_url,
    mcp_gateway_url: row.mcp_gateway_url,
    kms_key_arn: row.kms_key_arn,
    settings: settingsShown(row),
    defaults: await showDefaults(db, guardrails, organisationId, decode(row.defaults)),
    properties: decode(row.properties),
    status: row.status,
    created_at: row.created_at,
    last_updated_at: row.last_updated_at,
  };
}
