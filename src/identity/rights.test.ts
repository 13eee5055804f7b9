/** What sessions and keys may do, from roles and scopes. */
import { describe, expect, test } from 'bun:test';
import { mayInOrganisation, mayInWorkspace, type Rights, type SessionCaller } from './caller.ts';
import { adminKeyRights, sessionRights, userKeyRights, workspaceKeyRights } from './rights.ts';
import type { Scope } from './scopes.ts';
import { defaultSettings, mergeSettings, type SecuritySettings } from './settings.ts';

const secured = (security_settings: Partial<SecuritySettings>) => mergeSettings(defaultSettings, { security_settings });
const inForce = defaultSettings;

/** `may` asks about rights alone; the rest of the caller does not matter. */
const callerWith = (rights: Rights): SessionCaller => ({
  kind: 'session',
  organisationId: 'o',
  sessionId: 's',
  userId: 'u',
  email: 'u@example.com',
  role: 'member',
  workspaceRoles: new Map(),
  csrfToken: '',
  expiresAt: '',
  rights,
});
const inWorkspace = (rights: Rights, scope: Scope, workspaceId = 'w') =>
  mayInWorkspace(callerWith(rights), scope, workspaceId);
const inOrganisation = (rights: Rights, scope: Scope) => mayInOrganisation(callerWith(rights), scope);

describe('a session', () => {
  test('of an owner or admin holds in every workspace, without a membership', () => {
    for (const role of ['owner', 'admin'] as const) {
      const rights = sessionRights(role, defaultSettings, []);
      expect(inOrganisation(rights, 'organisation_settings.update')).toBe(true);
      expect(inWorkspace(rights, 'prompts.delete', 'any')).toBe(true);
    }
  });

  test('of an owner is exempt from every setting; of an admin only from those that are not about admins', () => {
    const off = Object.fromEntries(Object.keys(defaultSettings.security_settings).map((name) => [name, false]));
    const everythingOff = secured(off);
    expect(inWorkspace(sessionRights('owner', everythingOff, []), 'logs.view')).toBe(true);
    const admin = sessionRights('admin', everythingOff, []);
    expect(inWorkspace(admin, 'logs.view')).toBe(false);
    expect(inWorkspace(admin, 'logs.list')).toBe(false);
    expect(inWorkspace(admin, 'analytics.view')).toBe(true);
    expect(inWorkspace(admin, 'configs.create')).toBe(true);
  });

  test('of a member sees that the organisation exists, and acts in its own workspaces by its role there', () => {
    const rights = sessionRights('member', defaultSettings, [
      { workspaceId: 'w', role: 'manager', inForce },
      { workspaceId: 'v', role: 'member', inForce },
    ]);
    expect([...rights.organisation]).toEqual(['organisations.read']);
    expect(inWorkspace(rights, 'configs.create')).toBe(true);
    expect(inWorkspace(rights, 'configs.create', 'v')).toBe(false);
    expect(inWorkspace(rights, 'configs.read', 'v')).toBe(true);
    expect(inWorkspace(rights, 'configs.read', 'x')).toBe(false);
  });

  test('of a member follows the settings in force in each workspace', () => {
    const rights = sessionRights('member', defaultSettings, [
      { workspaceId: 'w', role: 'member', inForce: secured({ membersWritePrompts: true }) },
      { workspaceId: 'v', role: 'member', inForce },
    ]);
    expect(inWorkspace(rights, 'prompts.create')).toBe(true);
    expect(inWorkspace(rights, 'prompts.create', 'v')).toBe(false);
  });
});

describe('a key', () => {
  test('of the organisation holds its scopes on the organisation and in every workspace', () => {
    const rights = adminKeyRights(['workspaces.create', 'configs.read']);
    expect(inOrganisation(rights, 'workspaces.create')).toBe(true);
    expect(inWorkspace(rights, 'configs.read')).toBe(true);
    expect(inWorkspace(rights, 'configs.update')).toBe(false);
  });

  test('of a workspace holds its scopes there and nothing on the organisation', () => {
    const rights = workspaceKeyRights('w', ['configs.read']);
    expect(inWorkspace(rights, 'configs.read')).toBe(true);
    expect(inWorkspace(rights, 'configs.read', 'v')).toBe(false);
    expect(rights.organisation.size).toBe(0);
  });

  const userKey = (
    owner: Parameters<typeof userKeyRights>[2],
    settings: Partial<SecuritySettings> = {},
    scopes: Scope[] = ['configs.create', 'configs.read', 'logs.view', 'completions.write'],
  ) => [
    ...(userKeyRights('w', scopes, owner, secured(settings), secured(settings)).workspaces.get('w') ??
      new Set<Scope>()),
  ];

  test('of a user does no more than its owner may now', () => {
    const all = ['configs.create', 'configs.read', 'logs.view', 'completions.write'] as Scope[];
    expect(userKey({ organisationRole: 'member', workspaceRole: 'manager' })).toEqual(all);
    expect(userKey({ organisationRole: 'member', workspaceRole: 'member' })).toEqual(all.slice(1));
    expect(userKey({ organisationRole: 'member', workspaceRole: null })).toEqual([]);
    expect(userKey({ organisationRole: 'owner', workspaceRole: null })).toEqual(all);
  });

  test('of a user gains nothing that it was not given', () => {
    expect(userKey({ organisationRole: 'owner', workspaceRole: null }, {}, ['configs.read'])).toEqual(['configs.read']);
  });

  test("of a user is bound by the settings that bind its owner's role", () => {
    const manager = { organisationRole: 'member', workspaceRole: 'manager' } as const;
    expect(userKey(manager, { managersWriteConfigs: false })).not.toContain('configs.create');
    const admin = { organisationRole: 'admin', workspaceRole: null } as const;
    expect(userKey(admin, { managersWriteConfigs: false })).toContain('configs.create');
    expect(userKey(admin, { organisationAdminsViewLogs: false })).not.toContain('logs.view');
    const owner = { organisationRole: 'owner', workspaceRole: null } as const;
    expect(userKey(owner, { organisationAdminsViewLogs: false })).toContain('logs.view');
  });
});
