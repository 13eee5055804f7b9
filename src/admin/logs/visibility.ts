/** What of a workspace's logs a caller may see. Keys of services see all; people, and keys of people, what their role's settings leave them. */
import type { Caller } from '../../identity/caller.ts';
import type { OrganisationRole, WorkspaceRole } from '../../identity/roles.ts';
import { type SecuritySettings, settingsInForce } from '../../identity/settings.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';

export interface LogVisibility {
  /** `own`: only the calls made with the person's own keys. */
  rows: 'all' | 'own' | 'none';
  /** True: with headers and bodies, where they were kept. */
  bodies: boolean;
  /** The calls that count in what the person sees of analytics, which the settings of logs do not touch. */
  counted: 'all' | 'own' | 'none';
}

const everything: LogVisibility = { rows: 'all', bodies: true, counted: 'all' };
const nothing: LogVisibility = { rows: 'none', bodies: false, counted: 'none' };

export async function logVisibility(db: Db, caller: Caller, workspaceId: string): Promise<LogVisibility> {
  if (caller.kind === 'admin-key' || caller.kind === 'workspace-key') return everything;
  const standing = await db
    .selectFrom('organisation_members as member')
    .innerJoin('organisations as organisation', 'organisation.id', 'member.organisation_id')
    .innerJoin('workspaces as workspace', 'workspace.organisation_id', 'member.organisation_id')
    .leftJoin('workspace_members as inside', (join) =>
      join
        .onRef('inside.user_id', '=', 'member.user_id')
        .onRef('inside.workspace_id', '=', 'workspace.id')
        .on('inside.status', '=', 'active'),
    )
    .select([
      'member.role as organisationRole',
      'inside.role as workspaceRole',
      'organisation.settings as organisationSettings',
      'organisation.workspace_overrides as overrides',
      'workspace.settings as workspaceSettings',
    ])
    .where('member.organisation_id', '=', caller.organisationId)
    .where('member.user_id', '=', caller.userId)
    .where('member.status', '=', 'active')
    .where('workspace.id', '=', workspaceId)
    .executeTakeFirst();
  if (!standing) return nothing;
  const settings = decode(standing.organisationSettings);
  const inForce = settingsInForce(
    { settings, overrides: decode(standing.overrides) },
    decode(standing.workspaceSettings),
  );
  return (
    ofRunner(standing.organisationRole, settings.security_settings) ??
    ofInsider(standing.workspaceRole, inForce.security_settings)
  );
}

/** What those who run the organisation see in all of its workspaces. */
export async function organisationVisibility(db: Db, caller: Caller): Promise<LogVisibility> {
  if (caller.kind !== 'session') return everything;
  const organisation = await db
    .selectFrom('organisations')
    .select('settings')
    .where('id', '=', caller.organisationId)
    .executeTakeFirst();
  if (!organisation) return nothing;
  return ofRunner(caller.role, decode(organisation.settings).security_settings) ?? nothing;
}

/** Owners see everything; what administrators see is for the organisation to say. */
function ofRunner(role: OrganisationRole, settings: SecuritySettings): LogVisibility | null {
  if (role === 'owner') return everything;
  if (role === 'member') return null;
  return visible(settings.organisationAdminsViewLogMetadata, settings.organisationAdminsViewLogs, true);
}

function ofInsider(role: WorkspaceRole | null, settings: SecuritySettings): LogVisibility {
  if (role === null) return nothing;
  if (role === 'admin') return everything;
  return role === 'manager'
    ? visible(settings.managersViewLogMetadata, settings.managersViewLogs, settings.managersViewAllData)
    : visible(settings.membersViewLogMetadata, settings.membersViewLogs, settings.membersViewAllData);
}

function visible(metadata: boolean, bodies: boolean, ofOthers: boolean): LogVisibility {
  const calls = ofOthers ? 'all' : 'own';
  return { rows: metadata ? calls : 'none', bodies: metadata && bodies, counted: calls };
}
