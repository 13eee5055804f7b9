/** Settings of the organisation, and which sections of them its workspaces may set for themselves. */
import { invalid } from '../../http/errors.ts';
import { mergeSettings, organisationSettingsUpdate, overrideSections, ttlFits } from '../../identity/settings.ts';
import { decode, encode } from '../../store/json.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { id } from '../kernel/fields.ts';
import { sentFields } from '../kernel/validate.ts';
import { changeOverrides } from './overrides.ts';
import { organisationRow, settingsShown } from './record.ts';
import { overridesRecord, overridesShown, overridesUpdate, settingsRecord } from './schema.ts';
import { announceUpdate, saveOrganisation } from './update.ts';

const mayRead = {
  callers: ['admin-key', 'session'],
  scope: 'organisation_settings.read',
  level: 'organisation',
} as const;
const mayUpdate = { ...mayRead, scope: 'organisation_settings.update' } as const;
const organisationUpdated = { resource: 'organisation', action: 'update' } as const;
const tag = 'Organisation settings';

const readSettings = endpoint({
  method: 'GET',
  path: '/admin/organisation/settings',
  tag,
  summary: 'Read all settings of the organisation',
  access: mayRead,
  reply: settingsRecord,
  handle: async ({ db, caller }) => settingsShown(await organisationRow(db, caller.organisationId)),
});

// The read form can be sent back whole, so the overrides are welcome here too.
const settingsUpdate = () =>
  organisationSettingsUpdate().extend({
    workspace_overrides: overridesUpdate().exactOptional(),
    organisation_id: id.exactOptional(),
  });

const updateSettings = endpoint({
  method: 'PUT',
  path: '/admin/organisation/settings',
  tag,
  summary: 'Change settings of the organisation; what is not sent stays',
  description: 'Objects are merged one level deep. An unknown setting is refused.',
  access: mayUpdate,
  audit: organisationUpdated,
  body: settingsUpdate,
  reply: settingsRecord,
  async handle(call) {
    const { db, now, body, caller } = call;
    const { organisation_id: _, workspace_overrides, ...update } = body;
    const sent: Record<string, unknown> = { ...update, workspace_overrides };
    sentFields(sent, Object.keys(sent), 'any of the settings that GET shows');
    const before = await organisationRow(db, caller.organisationId);
    const settings = mergeSettings(decode(before.settings), update);
    if (!ttlFits(settings.user_api_key_ttl)) {
      throw invalid('user_api_key_ttl.default_ttl', 'may not be longer than max_ttl');
    }
    const overrides = await changeOverrides(db, now, before, settings, workspace_overrides ?? {});
    const change = { settings: encode(settings), workspace_overrides: encode(overrides) };
    await saveOrganisation(db, now, caller.organisationId, change);
    announceUpdate(call, settingsShown(before), settingsShown(change));
    return settingsShown(change);
  },
});

const readOverrides = endpoint({
  method: 'GET',
  path: '/admin/organisation/workspace-overrides',
  tag,
  summary: 'Read which sections workspaces may set for themselves',
  access: mayRead,
  reply: overridesRecord,
  async handle({ db, caller }) {
    const { workspace_overrides } = await organisationRow(db, caller.organisationId);
    return overridesShown(decode(workspace_overrides));
  },
});

const updateOverrides = endpoint({
  method: 'PUT',
  path: '/admin/organisation/workspace-overrides',
  tag,
  summary: 'Open sections to workspaces, or close them',
  description:
    "Opening a section gives every workspace the organisation's present values to start from (security settings go on following the organisation until a workspace sets its own). Closing it discards the values of the workspaces.",
  access: mayUpdate,
  audit: organisationUpdated,
  body: () => overridesUpdate().extend({ organisation_id: id.exactOptional() }),
  reply: overridesRecord,
  async handle(call) {
    const { db, now, caller } = call;
    const { organisation_id: _, ...sections } = call.body;
    sentFields(sections, overrideSections, 'any of the sections that GET shows');
    const before = await organisationRow(db, caller.organisationId);
    const overrides = await changeOverrides(db, now, before, decode(before.settings), sections);
    await saveOrganisation(db, now, caller.organisationId, { workspace_overrides: encode(overrides) });
    const shown = overridesShown(overrides);
    announceUpdate(call, overridesShown(decode(before.workspace_overrides)), shown);
    return shown;
  },
});

export const settingsEndpoints = [readSettings, updateSettings, readOverrides, updateOverrides];
