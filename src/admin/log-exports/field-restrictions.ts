/** The fields that log exports must refuse: as the settings in force say, and bodies where the caller's role does not see them. */
import { z } from 'zod';
import { settingsInForce } from '../../identity/settings.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { reference } from '../kernel/fields.ts';
import { visibleLogs } from '../logs/scopes.ts';

const object = z.literal('export-field-restrictions');

/** The settings of the organisation, and those in force in its workspaces. */
async function settingsOf(db: Db, organisationId: string, workspaceIds: readonly string[] | null) {
  const organisation = await db
    .selectFrom('organisations')
    .select(['settings', 'workspace_overrides as overrides'])
    .where('id', '=', organisationId)
    .executeTakeFirstOrThrow();
  const settings = decode(organisation.settings);
  const overrides = decode(organisation.overrides);
  if (workspaceIds?.length === 0) return { settings, inWorkspaces: [] };
  const workspaces = db.selectFrom('workspaces').select('settings').where('organisation_id', '=', organisationId);
  const own = await (workspaceIds ? workspaces.where('id', 'in', workspaceIds) : workspaces).execute();
  return { settings, inWorkspaces: own.map((row) => settingsInForce({ settings, overrides }, decode(row.settings))) };
}

/** What any of these workspaces forbids; null stands for all of them, and for the organisation itself. */
export async function deniedIn(
  db: Db,
  organisationId: string,
  places: readonly (string | null)[],
): Promise<Set<string>> {
  const ids = places.flatMap((id) => id ?? []);
  const everywhere = ids.length < places.length;
  const { settings, inWorkspaces } = await settingsOf(db, organisationId, everywhere ? null : ids);
  const counted = everywhere ? [settings, ...inWorkspaces] : inWorkspaces;
  return new Set(counted.flatMap(({ export_settings }) => export_settings.deniedFields));
}

export const readFieldRestrictions = endpoint({
  method: 'GET',
  path: '/logs/exports/field-restrictions',
  tag: 'Log exports',
  summary: 'Read which fields log exports must leave out, in a workspace or in the organisation',
  access: {
    callers: ['admin-key', 'workspace-key', 'user-key', 'session'],
    scope: 'logs.export',
    level: 'workspace',
  },
  query: () => z.object({ workspace_id: reference.optional() }),
  reply: () => z.object({ deniedFields: z.array(z.string()), object }),
  async handle({ db, caller, workspace }) {
    const { bodies } = await visibleLogs({ db, caller, workspace, slug: undefined, needs: ['logs.export'] });
    const { settings, inWorkspaces } = await settingsOf(db, caller.organisationId, workspace ? [workspace.id] : []);
    const [inForce = settings] = inWorkspaces;
    const unseen = bodies ? [] : ['request', 'response'];
    return {
      deniedFields: [...new Set([...inForce.export_settings.deniedFields, ...unseen])],
      object: object.value,
    };
  },
});
