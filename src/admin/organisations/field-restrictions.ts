/** The fields that log exports must refuse, as the settings in force say. */
import { z } from 'zod';
import { settingsInForce } from '../../identity/settings.ts';
import { decode } from '../../store/json.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { reference } from '../kernel/fields.ts';
import { organisationRow } from './record.ts';

const object = z.literal('export-field-restrictions');

const readFieldRestrictions = endpoint({
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
    const organisation = await organisationRow(db, caller.organisationId);
    const settings = decode(organisation.settings);
    const asReply = (deniedFields: string[]) => ({ deniedFields, object: object.value });
    if (!workspace) return asReply(settings.export_settings.deniedFields);
    const own = await db
      .selectFrom('workspaces')
      .select('settings')
      .where('id', '=', workspace.id)
      .executeTakeFirstOrThrow();
    const overrides = decode(organisation.workspace_overrides);
    return asReply(settingsInForce({ settings, overrides }, decode(own.settings)).export_settings.deniedFields);
  },
});

export const fieldRestrictionEndpoints = [readFieldRestrictions];
