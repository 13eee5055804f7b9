/** The settings in force in a workspace, and its own values in the sections that the organisation has opened. */
import { z } from 'zod';
import { semanticCacheSchema, settingsInForce, workspaceSettingsUpdate } from '../../identity/settings.ts';
import { lazy } from '../../lazy.ts';
import { decode, encode } from '../../store/json.ts';
import { type Endpoint, endpoint } from '../kernel/endpoint.ts';
import { activeWorkspaceRow, surroundingsOf, workspaceRow } from './row.ts';
import { requireMayManage, requireMaySeeSettings } from './rules.ts';
import { inWorkspace } from './schema.ts';
import { sourcedSettings, updatedSettings } from './settings.ts';

const tag = 'Workspace settings';
const callers = ['admin-key', 'session'] as const;

const sourced = <T extends z.ZodType>(value: T) =>
  z.object({
    value,
    source: z.enum(['organisation', 'workspace']),
    overridable: z.boolean().describe('True when the workspace may hold a value of its own'),
  });

const reply = lazy(() =>
  z.object({
    user_api_key_auto_create: sourced(z.boolean()),
    default_workspace_user_api_key_auto_create: sourced(z.boolean()),
    user_api_key_rotation_period: sourced(z.number().nullable()),
    user_api_key_ttl: sourced(
      z.object({ default_ttl: z.number().nullable(), max_ttl: z.number().nullable() }).nullable(),
    ),
    user_api_key_limit: sourced(z.number().nullable()),
    request_logging: sourced(z.enum(['full', 'metrics_only'])),
    enforce_debug_log_setting: sourced(z.boolean()),
    stream_usage: sourced(z.boolean()),
    default_cache_max_age: sourced(z.number().nullable()),
    semantic_cache: sourced(semanticCacheSchema().nullable()),
    user_attribution: sourced(z.object({ enabled: z.boolean(), allow_override: z.boolean() })),
    export_settings: sourced(z.object({ deniedFields: z.array(z.string()) })),
    disable_getting_started: sourced(z.boolean()),
    session_settings: sourced(z.object({ max_session_ttl: z.number().nullable() })),
    data_plane_security_settings: sourced(z.object({ block_inline_config: z.boolean() })),
    security_settings: z.record(z.string(), sourced(z.boolean())),
  }),
);

const readSettings = endpoint({
  method: 'GET',
  path: '/admin/workspaces/:workspaceId/settings',
  aliases: ['/workspaces/:workspaceId/settings'],
  tag,
  summary: 'Read the settings in force in a workspace, each with its source',
  access: { callers, scope: 'workspaces.read', level: 'workspace' },
  params: inWorkspace,
  reply,
  async handle({ caller, workspace, db }) {
    const row = await workspaceRow(db, workspace);
    requireMaySeeSettings(caller, row.id);
    return sourcedSettings(await surroundingsOf(db, row.organisation_id), decode(row.settings));
  },
});

const updateSettings = endpoint({
  method: 'PUT',
  path: '/admin/workspaces/:workspaceId/settings',
  aliases: ['/workspaces/:workspaceId/settings'],
  tag,
  summary: "Change a workspace's own settings in the sections that the organisation has opened",
  access: { callers, scope: 'workspaces.update', level: 'workspace' },
  audit: { resource: 'workspace', action: 'update' },
  params: inWorkspace,
  body: () =>
    workspaceSettingsUpdate().refine((update) => Object.keys(update).length > 0, {
      message: 'Send at least one setting to change',
    }),
  reply,
  async handle({ caller, workspace, body, db, now, changed, note }) {
    const row = await activeWorkspaceRow(db, workspace);
    const organisation = await surroundingsOf(db, row.organisation_id);
    const own = decode(row.settings);
    requireMayManage(caller, row.id, settingsInForce(organisation, own), 'The settings');
    const settings = updatedSettings(organisation, own, body, '');
    await db
      .updateTable('workspaces')
      .set({ settings: encode(settings), last_updated_at: now.toISOString() })
      .where('id', '=', row.id)
      .execute();
    changed({ topic: 'workspace', id: row.id });
    note({ resourceId: row.id, details: { name: row.name, settings: body } });
    return sourcedSettings(organisation, settings);
  },
});

export const settingsEndpoints: readonly Endpoint[] = [readSettings, updateSettings];
