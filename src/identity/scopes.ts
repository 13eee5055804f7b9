/** Every scope: which kind of key may hold it, and which roles have it by themselves, possibly behind a security setting. */
import type { SecuritySetting } from './settings.ts';

/** `true`: always; settings: while all of them are on; absent: never. */
type Grant = true | SecuritySetting | readonly SecuritySetting[];

interface ScopeRow {
  readonly resource: string;
  readonly actions: readonly string[];
  /** A: admin key, S: workspace-service key, U: workspace-user key, J: organisation JWT. */
  readonly keys: string;
  /** Organisation owner and admin. A setting here binds admins only. */
  readonly organisation?: Grant;
  readonly admin?: Grant;
  readonly manager?: Grant;
  readonly member?: Grant;
}

const crudl = ['create', 'read', 'update', 'delete', 'list'] as const;
const write = ['create', 'update', 'delete'] as const;
const view = ['read', 'list'] as const;
const everyone = { organisation: true, admin: true, manager: true, member: true } as const;
const organisationOnly = { keys: 'A', organisation: true } as const;

const rows = [
  { resource: 'organisations', actions: ['read'], keys: '', ...everyone },
  { resource: 'organisation_users', actions: ['create', 'update', 'delete', 'list'], ...organisationOnly },
  { resource: 'organisation_users', actions: ['read'], keys: 'A', organisation: true, admin: true, manager: true },
  { resource: 'organisation_service_api_keys', actions: [...crudl, 'rotate'], ...organisationOnly },
  { resource: 'organisation_settings', actions: ['read', 'update'], ...organisationOnly },
  { resource: 'organisation_guardrails', actions: crudl, ...organisationOnly },
  { resource: 'organisation_exclusions', actions: ['update', 'list'], ...organisationOnly },
  { resource: 'audit_logs', actions: ['list'], ...organisationOnly },
  { resource: 'plugins', actions: ['create', 'update', 'list'], ...organisationOnly },
  { resource: 'deployments', actions: crudl, ...organisationOnly },
  { resource: 'secret_references', actions: crudl, ...organisationOnly },

  { resource: 'workspaces', actions: ['create', 'delete'], ...organisationOnly },
  { resource: 'workspaces', actions: view, keys: 'ASUJ', ...everyone },
  { resource: 'workspaces', actions: ['update'], keys: 'ASUJ', organisation: true, admin: true, manager: true },
  {
    resource: 'workspace_service_api_keys',
    actions: [...write, 'rotate'],
    keys: 'AS',
    organisation: true,
    admin: true,
    manager: 'managersWriteApiKeys',
  },
  {
    resource: 'workspace_service_api_keys',
    actions: view,
    keys: 'AS',
    organisation: true,
    admin: true,
    manager: 'managersViewApiKeys',
  },
  {
    resource: 'workspace_user_api_keys',
    actions: write,
    keys: 'AS',
    organisation: true,
    admin: true,
    manager: 'managersWriteApiKeys',
    member: 'membersWriteApiKeys',
  },
  {
    resource: 'workspace_user_api_keys',
    actions: view,
    keys: 'AS',
    organisation: true,
    admin: true,
    manager: 'managersViewApiKeys',
    member: 'membersViewApiKeys',
  },
  {
    resource: 'workspace_user_api_keys',
    actions: ['rotate'],
    keys: 'AS',
    organisation: true,
    admin: true,
    manager: 'managersWriteApiKeys',
    member: 'membersViewApiKeys',
  },
  { resource: 'workspace_users', actions: write, keys: 'ASUJ', organisation: true, admin: true, manager: true },
  { resource: 'workspace_users', actions: view, keys: 'ASUJ', ...everyone },

  {
    resource: 'prompts',
    actions: [...write, 'publish'],
    keys: 'ASU',
    organisation: true,
    admin: true,
    manager: 'managersWritePrompts',
    member: 'membersWritePrompts',
  },
  {
    resource: 'prompts',
    actions: view,
    keys: 'ASUJ',
    organisation: true,
    admin: true,
    manager: 'managersViewPrompts',
    member: 'membersViewPrompts',
  },
  { resource: 'prompts', actions: ['render'], keys: 'SUJ', ...everyone },
  {
    resource: 'configs',
    actions: write,
    keys: 'ASUJ',
    organisation: true,
    admin: true,
    manager: 'managersWriteConfigs',
    member: 'membersWriteConfigs',
  },
  {
    resource: 'configs',
    actions: view,
    keys: 'ASUJ',
    organisation: true,
    admin: true,
    manager: 'managersViewConfigs',
    member: 'membersViewConfigs',
  },
  {
    resource: 'guardrails',
    actions: write,
    keys: 'ASU',
    organisation: true,
    admin: true,
    manager: 'managersWriteGuardrails',
  },
  {
    resource: 'guardrails',
    actions: view,
    keys: 'ASUJ',
    organisation: true,
    admin: true,
    manager: 'managersViewGuardrails',
    member: 'membersViewGuardrails',
  },
  { resource: 'guardrails', actions: ['invoke'], keys: 'SUJ', ...everyone },
  {
    resource: 'virtual_keys',
    actions: ['create', 'update', 'duplicate'],
    keys: 'ASU',
    organisation: true,
    admin: true,
    manager: 'managersWriteVirtualKeys',
  },
  {
    resource: 'virtual_keys',
    actions: ['delete'],
    keys: 'ASUJ',
    organisation: true,
    admin: true,
    manager: 'managersWriteVirtualKeys',
  },
  {
    resource: 'virtual_keys',
    actions: ['read', 'copy'],
    keys: 'ASU',
    organisation: true,
    admin: true,
    manager: 'managersViewVirtualKeys',
    member: 'membersViewVirtualKeys',
  },
  {
    resource: 'virtual_keys',
    actions: ['list'],
    keys: 'ASUJ',
    organisation: true,
    admin: true,
    manager: 'managersViewVirtualKeys',
    member: 'membersViewVirtualKeys',
  },
  {
    resource: 'providers',
    actions: write,
    keys: 'ASUJ',
    organisation: true,
    admin: true,
    manager: 'managersWriteVirtualKeys',
  },
  {
    resource: 'providers',
    actions: view,
    keys: 'ASUJ',
    organisation: true,
    admin: true,
    manager: 'managersViewVirtualKeys',
    member: 'membersViewVirtualKeys',
  },
  { resource: 'policies', actions: write, keys: 'ASU', organisation: true, admin: true, manager: true },
  { resource: 'policies', actions: view, keys: 'ASUJ', ...everyone },

  { resource: 'organisation_integrations', actions: [...write, 'read'], ...organisationOnly },
  { resource: 'organisation_integrations', actions: ['list'], keys: 'ASUJ', ...everyone },
  { resource: 'organisation_mcp_integrations', actions: [...write, 'read'], ...organisationOnly },
  { resource: 'organisation_mcp_integrations', actions: ['list'], keys: 'ASUJ', ...everyone },
  { resource: 'organisation_agent_integrations', actions: [...write, 'read'], ...organisationOnly },
  { resource: 'organisation_agent_integrations', actions: ['list'], keys: 'ASUJ', ...everyone },
  {
    resource: 'workspace_integrations',
    actions: write,
    keys: 'ASU',
    organisation: true,
    admin: true,
    manager: 'managersWriteWsIntegrations',
  },
  { resource: 'workspace_integrations', actions: view, keys: 'ASUJ', ...everyone },
  {
    resource: 'workspace_mcp_integrations',
    actions: write,
    keys: 'ASU',
    organisation: true,
    admin: true,
    manager: 'managersWriteWsMcpIntegrations',
  },
  { resource: 'workspace_mcp_integrations', actions: view, keys: 'ASUJ', ...everyone },
  {
    resource: 'workspace_agent_integrations',
    actions: write,
    keys: 'ASU',
    organisation: true,
    admin: true,
    manager: true,
  },
  { resource: 'workspace_agent_integrations', actions: view, keys: 'ASUJ', ...everyone },
  {
    resource: 'mcp_servers',
    actions: write,
    keys: 'ASU',
    organisation: true,
    admin: true,
    manager: 'managersWriteMcpServers',
  },
  { resource: 'mcp_servers', actions: view, keys: 'ASUJ', ...everyone },
  { resource: 'agent_servers', actions: write, keys: 'ASU', organisation: true, admin: true, manager: true },
  { resource: 'agent_servers', actions: view, keys: 'ASUJ', ...everyone },
  { resource: 'agent_server_skills', actions: write, keys: 'ASU', organisation: true, admin: true, manager: true },
  { resource: 'agent_server_skills', actions: view, keys: 'ASU', ...everyone },
  { resource: 'agent_integration_skills', actions: write, keys: 'ASU', organisation: true, admin: true, manager: true },
  { resource: 'agent_integration_skills', actions: view, keys: 'ASU', ...everyone },
  { resource: 'agent_server_user_access', actions: crudl, keys: 'ASU', organisation: true, admin: true, manager: true },

  { resource: 'mcp', actions: ['invoke'], keys: 'SUJ', ...everyone },
  { resource: 'agents', actions: ['invoke'], keys: 'SUJ', ...everyone },
  { resource: 'completions', actions: ['write'], keys: 'SUJ', ...everyone },
  { resource: 'models', actions: ['list'], keys: 'SUJ', ...everyone },
  { resource: 'completions', actions: ['read'], keys: 'J' },
  {
    resource: 'analytics',
    actions: ['view'],
    keys: 'ASUJ',
    organisation: true,
    admin: true,
    manager: 'managersViewAnalytics',
    member: 'membersViewAnalytics',
  },
  // A list shows the metadata of calls; a log that is opened adds their payloads. An export of whoever may not see those holds none.
  {
    resource: 'logs',
    actions: ['list'],
    keys: 'ASUJ',
    organisation: 'organisationAdminsViewLogMetadata',
    admin: true,
    manager: 'managersViewLogMetadata',
    member: 'membersViewLogMetadata',
  },
  {
    resource: 'logs',
    actions: ['view'],
    keys: 'ASUJ',
    organisation: ['organisationAdminsViewLogs', 'organisationAdminsViewLogMetadata'],
    admin: true,
    manager: ['managersViewLogs', 'managersViewLogMetadata'],
    member: ['membersViewLogs', 'membersViewLogMetadata'],
  },
  {
    resource: 'logs',
    actions: ['export'],
    keys: 'ASUJ',
    organisation: 'organisationAdminsViewLogMetadata',
    admin: true,
    manager: 'managersViewLogMetadata',
  },
  { resource: 'logs', actions: ['write'], keys: 'SUJ', ...everyone },
  { resource: 'logs', actions: ['read'], keys: 'J' },
  { resource: 'feedbacks', actions: ['read', 'write'], keys: 'J' },
  { resource: 'generations', actions: ['create'], keys: '', ...everyone },
] as const satisfies readonly ScopeRow[];

type Row = (typeof rows)[number];
export type Scope = { [R in Row as `${R['resource']}.${R['actions'][number]}`]: true } extends infer Names
  ? keyof Names & string
  : never;

export type KeyLetter = 'A' | 'S' | 'U' | 'J';
export type RoleColumn = 'organisation' | 'admin' | 'manager' | 'member';

interface ScopeRule {
  readonly keys: string;
  readonly grants: Partial<Record<RoleColumn, Grant>>;
}

const rules: ReadonlyMap<Scope, ScopeRule> = new Map(
  rows.flatMap((row: ScopeRow) =>
    row.actions.map((action): [Scope, ScopeRule] => [
      `${row.resource}.${action}` as Scope,
      {
        keys: row.keys,
        grants: {
          ...(row.organisation && { organisation: row.organisation }),
          ...(row.admin && { admin: row.admin }),
          ...(row.manager && { manager: row.manager }),
          ...(row.member && { member: row.member }),
        },
      },
    ]),
  ),
);

export const allScopes: readonly Scope[] = [...rules.keys()];

/** The scopes that a key of this kind may be given, in the table's order. */
export const grantableTo = (letter: KeyLetter): readonly Scope[] =>
  allScopes.filter((scope) => rules.get(scope)?.keys.includes(letter));

/** The scopes that a person in this column of the table has while `isOn` answers for the security settings. */
export function heldBy(column: RoleColumn, isOn: (setting: SecuritySetting) => boolean): Set<Scope> {
  const held = new Set<Scope>();
  for (const [scope, rule] of rules) {
    const grant = rule.grants[column];
    if (grant === undefined) continue;
    if (grant === true || [grant].flat().every(isOn)) held.add(scope);
  }
  return held;
}

const misprints: Readonly<Record<string, Scope>> = {
  'provider.update': 'providers.update',
  'providers.duplicate': 'virtual_keys.duplicate',
};

/** A scope as clients write it (`policies:create`, `workspace-user-api-keys.rotate`, `gw.logs.view`) in its one spelling, or null. */
export function parseScope(text: string): Scope | null {
  const spelled = text.trim().toLowerCase().replace(/^gw\./, '').replaceAll(':', '.').replaceAll('-', '_');
  const scope = misprints[spelled] ?? (spelled as Scope);
  return rules.has(scope) ? scope : null;
}
