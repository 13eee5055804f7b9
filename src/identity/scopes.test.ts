/** The table of scopes: which keys and roles may hold which, and how they are spelt. */
import { describe, expect, test } from 'bun:test';
import { allScopes, grantableTo, heldBy, parseScope, type RoleColumn, type Scope } from './scopes.ts';
import { defaultSettings, type SecuritySetting } from './settings.ts';

const securityDefaults = defaultSettings.security_settings;
/** What came with later releases, which the reference's key tables do not count. */
const later = /^agent_(server_skills|integration_skills|server_user_access)\.|^models\.list$/;
const counted = (letter: 'A' | 'S' | 'U') => grantableTo(letter).filter((scope) => !later.test(scope));

describe('scopes of keys', () => {
  test('are as many as the tables of the reference hold', () => {
    expect(counted('A')).toHaveLength(133);
    expect(counted('S')).toHaveLength(91);
    expect(counted('U')).toHaveLength(79);
    expect(new Set([...counted('A'), ...counted('S'), ...counted('U')]).size).toBe(139);
  });

  test('a user key may hold what a workspace key may, except the twelve that manage keys', () => {
    const user = new Set(grantableTo('U'));
    const service = grantableTo('S');
    expect([...user].every((scope) => service.includes(scope))).toBe(true);
    const rest = service.filter((scope) => !user.has(scope));
    expect(rest).toHaveLength(12);
    expect(rest.every((scope) => /^workspace_(service|user)_api_keys\./.test(scope))).toBe(true);
  });

  test.each([
    ['completions.write', 'SUJ'],
    ['logs.write', 'SUJ'],
    ['logs.view', 'ASUJ'],
    ['prompts.render', 'SUJ'],
    ['prompts.create', 'ASU'],
    ['prompts.read', 'ASUJ'],
    ['organisation_settings.update', 'A'],
    ['organisation_integrations.list', 'ASUJ'],
    ['workspace_service_api_keys.rotate', 'AS'],
    ['virtual_keys.copy', 'ASU'],
    ['virtual_keys.delete', 'ASUJ'],
    ['completions.read', 'J'],
    ['feedbacks.write', 'J'],
    ['organisations.read', ''],
    ['generations.create', ''],
  ] as const)('%s may be given to %s', (scope, letters) => {
    const holders = (['A', 'S', 'U', 'J'] as const).filter((letter) => grantableTo(letter).includes(scope));
    expect(holders.join('')).toBe(letters);
  });

  test('every scope is a resource and an action', () => {
    expect(allScopes.every((scope) => /^[a-z_]+\.[a-z]+$/.test(scope))).toBe(true);
    expect(new Set(allScopes).size).toBe(allScopes.length);
  });
});

describe('spellings of scopes', () => {
  test.each([
    ['logs.view', 'logs.view'],
    ['policies:create', 'policies.create'],
    ['organisation-service-api-keys.rotate', 'organisation_service_api_keys.rotate'],
    ['gw.logs.view', 'logs.view'],
    [' Logs.View ', 'logs.view'],
    ['provider.update', 'providers.update'],
    ['providers.duplicate', 'virtual_keys.duplicate'],
  ])('%p means %s', (written, scope) => {
    expect(parseScope(written)).toBe(scope as Scope);
  });

  test.each(['', 'logs', 'logs.', 'logs.fly', 'toString', '__proto__', 'constructor', 'logs.view.all'])(
    '%p means nothing',
    (written) => {
      expect(parseScope(written)).toBeNull();
    },
  );
});

describe('scopes of roles', () => {
  const columns: RoleColumn[] = ['organisation', 'admin', 'manager', 'member'];
  const holders = (scope: Scope) =>
    columns.filter((column) => heldBy(column, (setting) => securityDefaults[setting]).has(scope));

  test.each([
    ['organisations.read', ['organisation', 'admin', 'manager', 'member']],
    ['organisation_settings.update', ['organisation']],
    ['organisation_users.read', ['organisation', 'admin', 'manager']],
    ['organisation_users.list', ['organisation']],
    ['audit_logs.list', ['organisation']],
    ['workspaces.create', ['organisation']],
    ['workspaces.update', ['organisation', 'admin', 'manager']],
    ['workspaces.read', ['organisation', 'admin', 'manager', 'member']],
    ['workspace_users.create', ['organisation', 'admin', 'manager']],
    ['workspace_service_api_keys.create', ['organisation', 'admin', 'manager']],
    ['workspace_user_api_keys.create', ['organisation', 'admin', 'manager']],
    ['workspace_user_api_keys.list', ['organisation', 'admin', 'manager', 'member']],
    ['workspace_user_api_keys.rotate', ['organisation', 'admin', 'manager', 'member']],
    ['prompts.update', ['organisation', 'admin', 'manager']],
    ['prompts.read', ['organisation', 'admin', 'manager', 'member']],
    ['guardrails.create', ['organisation', 'admin', 'manager']],
    ['mcp_servers.read', ['organisation', 'admin', 'manager', 'member']],
    ['agent_server_user_access.read', ['organisation', 'admin', 'manager']],
    ['logs.export', ['organisation', 'admin', 'manager']],
    ['logs.list', ['organisation', 'admin', 'manager', 'member']],
    ['completions.write', ['organisation', 'admin', 'manager', 'member']],
    ['completions.read', []],
  ] as [Scope, RoleColumn[]][])('%s is held by default by %p', (scope, expected) => {
    expect(holders(scope)).toEqual(expected);
  });

  /** What each setting decides, and for whom; those absent here are not about scopes. */
  const gates: Partial<Record<SecuritySetting, { column: RoleColumn; scopes: Scope[] }>> = {
    membersViewAnalytics: { column: 'member', scopes: ['analytics.view'] },
    managersViewAnalytics: { column: 'manager', scopes: ['analytics.view'] },
    membersViewPrompts: { column: 'member', scopes: ['prompts.read', 'prompts.list'] },
    membersWritePrompts: {
      column: 'member',
      scopes: ['prompts.create', 'prompts.update', 'prompts.delete', 'prompts.publish'],
    },
    managersViewPrompts: { column: 'manager', scopes: ['prompts.read', 'prompts.list'] },
    managersWritePrompts: {
      column: 'manager',
      scopes: ['prompts.create', 'prompts.update', 'prompts.delete', 'prompts.publish'],
    },
    organisationAdminsViewLogs: { column: 'organisation', scopes: ['logs.view'] },
    organisationAdminsViewLogMetadata: { column: 'organisation', scopes: ['logs.list', 'logs.view', 'logs.export'] },
    managersViewLogs: { column: 'manager', scopes: ['logs.view'] },
    managersViewLogMetadata: { column: 'manager', scopes: ['logs.list', 'logs.view', 'logs.export'] },
    membersViewLogs: { column: 'member', scopes: ['logs.view'] },
    membersViewLogMetadata: { column: 'member', scopes: ['logs.list', 'logs.view'] },
    managersWriteWsIntegrations: {
      column: 'manager',
      scopes: ['workspace_integrations.create', 'workspace_integrations.update', 'workspace_integrations.delete'],
    },
    managersWriteWsMcpIntegrations: {
      column: 'manager',
      scopes: [
        'workspace_mcp_integrations.create',
        'workspace_mcp_integrations.update',
        'workspace_mcp_integrations.delete',
      ],
    },
    managersWriteMcpServers: {
      column: 'manager',
      scopes: ['mcp_servers.create', 'mcp_servers.update', 'mcp_servers.delete'],
    },
    managersViewGuardrails: { column: 'manager', scopes: ['guardrails.read', 'guardrails.list'] },
    managersWriteGuardrails: {
      column: 'manager',
      scopes: ['guardrails.create', 'guardrails.update', 'guardrails.delete'],
    },
    membersViewGuardrails: { column: 'member', scopes: ['guardrails.read', 'guardrails.list'] },
    managersViewApiKeys: {
      column: 'manager',
      scopes: [
        'workspace_service_api_keys.read',
        'workspace_service_api_keys.list',
        'workspace_user_api_keys.read',
        'workspace_user_api_keys.list',
      ],
    },
    managersWriteApiKeys: {
      column: 'manager',
      scopes: [
        'workspace_service_api_keys.create',
        'workspace_service_api_keys.update',
        'workspace_service_api_keys.delete',
        'workspace_service_api_keys.rotate',
        'workspace_user_api_keys.create',
        'workspace_user_api_keys.update',
        'workspace_user_api_keys.delete',
        'workspace_user_api_keys.rotate',
      ],
    },
    membersViewApiKeys: {
      column: 'member',
      scopes: ['workspace_user_api_keys.read', 'workspace_user_api_keys.list', 'workspace_user_api_keys.rotate'],
    },
    membersWriteApiKeys: {
      column: 'member',
      scopes: ['workspace_user_api_keys.create', 'workspace_user_api_keys.update', 'workspace_user_api_keys.delete'],
    },
    managersViewVirtualKeys: {
      column: 'manager',
      scopes: ['virtual_keys.read', 'virtual_keys.copy', 'virtual_keys.list', 'providers.read', 'providers.list'],
    },
    managersWriteVirtualKeys: {
      column: 'manager',
      scopes: [
        'virtual_keys.create',
        'virtual_keys.update',
        'virtual_keys.duplicate',
        'virtual_keys.delete',
        'providers.create',
        'providers.update',
        'providers.delete',
      ],
    },
    membersViewVirtualKeys: {
      column: 'member',
      scopes: ['virtual_keys.read', 'virtual_keys.copy', 'virtual_keys.list', 'providers.read', 'providers.list'],
    },
    managersViewConfigs: { column: 'manager', scopes: ['configs.read', 'configs.list'] },
    managersWriteConfigs: { column: 'manager', scopes: ['configs.create', 'configs.update', 'configs.delete'] },
    membersViewConfigs: { column: 'member', scopes: ['configs.read', 'configs.list'] },
    membersWriteConfigs: { column: 'member', scopes: ['configs.create', 'configs.update', 'configs.delete'] },
  };

  test.each(Object.keys(securityDefaults) as SecuritySetting[])(
    'with everything else on, switching %s off takes what it stands for, from nobody else',
    (setting) => {
      const lost = columns.flatMap((column) => {
        const off = heldBy(column, (name) => name !== setting);
        return [...heldBy(column, () => true)].filter((scope) => !off.has(scope)).map((scope) => `${column} ${scope}`);
      });
      const expected = (gates[setting]?.scopes ?? []).map((scope) => `${gates[setting]?.column} ${scope}`);
      expect(lost.sort()).toEqual(expected.sort());
    },
  );

  test('members never write what has no setting for it', () => {
    const held = heldBy('member', () => true);
    for (const scope of ['guardrails.create', 'providers.update', 'mcp_servers.delete', 'logs.export'] as const) {
      expect(held.has(scope)).toBe(false);
    }
  });
});
