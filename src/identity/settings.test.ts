/** Settings of an organisation and its workspaces: defaults, updates, and what is in force where. */
import { describe, expect, test } from 'bun:test';
import {
  afterOverrideChange,
  defaultSettings,
  mergeSettings,
  organisationSettingsUpdate,
  overrideSections,
  sectionOf,
  settingsInForce,
  settingsOf,
  ttlFits,
  type WorkspaceSettings,
  workspaceSettingsUpdate,
} from './settings.ts';

describe('the defaults', () => {
  test('are those of the specification', () => {
    const off = Object.entries(defaultSettings.security_settings)
      .filter(([, on]) => !on)
      .map(([name]) => name);
    expect(off.sort()).toEqual([
      'managersManageWorkspace',
      'membersWriteApiKeys',
      'membersWriteConfigs',
      'membersWritePrompts',
    ]);
    expect(defaultSettings.data_plane_security_settings.block_inline_config).toBe(true);
    expect(defaultSettings.session_settings.max_session_ttl).toBeNull();
    expect(defaultSettings.request_logging).toBe('full');
  });
});

describe('sections', () => {
  test('are the seventeen of the specification, and every overridable setting lies in one', () => {
    expect([...overrideSections].sort()).toEqual([
      'analytics',
      'api_keys',
      'configs',
      'data_plane_security_settings',
      'data_visibility',
      'export_settings',
      'guardrails',
      'logs',
      'mcp_servers',
      'prompts',
      'request_logging',
      'user_api_key_settings',
      'user_attribution',
      'virtual_keys',
      'workspace_management',
      'ws_integrations',
      'ws_mcp_integrations',
    ]);
    for (const name of Object.keys(defaultSettings.security_settings))
      expect(settingsOf(sectionOf(name))).toContain(name);
    expect(sectionOf('user_api_key_ttl')).toBe('user_api_key_settings');
    expect(() => sectionOf('session_settings')).toThrow();
  });

  test('a workspace may not set what only the organisation sets', () => {
    for (const update of [
      { session_settings: { max_session_ttl: 900 } },
      { default_workspace_user_api_key_auto_create: true },
      { enforce_debug_log_setting: true },
      { default_cache_max_age: 5 },
      { disable_getting_started: true },
    ]) {
      expect(organisationSettingsUpdate().safeParse(update).success).toBe(true);
      expect(workspaceSettingsUpdate().safeParse(update).success).toBe(false);
    }
  });
});

describe('an update', () => {
  test('takes the bounds of the specification', () => {
    const accepts = (update: unknown) => organisationSettingsUpdate().safeParse(update).success;
    expect(accepts({ session_settings: { max_session_ttl: 900 } })).toBe(true);
    expect(accepts({ session_settings: { max_session_ttl: 899 } })).toBe(false);
    expect(accepts({ user_api_key_rotation_period: 1 })).toBe(true);
    expect(accepts({ user_api_key_rotation_period: 365 })).toBe(true);
    expect(accepts({ user_api_key_rotation_period: 366 })).toBe(false);
    expect(accepts({ user_api_key_rotation_period: 1.5 })).toBe(false);
    expect(accepts({ anything: 1 })).toBe(false);
  });

  test('changes only what was sent', () => {
    expect(mergeSettings(defaultSettings, {})).toEqual(defaultSettings);
    const merged = mergeSettings(defaultSettings, {
      user_attribution: { allow_override: true },
      security_settings: { membersViewLogs: false },
    });
    expect(merged).toEqual({
      ...defaultSettings,
      user_attribution: { enabled: false, allow_override: true },
      security_settings: { ...defaultSettings.security_settings, membersViewLogs: false },
    });
  });

  test('of a lifetime keeps the half that was not sent, and null takes both away', () => {
    const half = mergeSettings(defaultSettings, { user_api_key_ttl: { max_ttl: 60 } });
    expect(half.user_api_key_ttl).toEqual({ default_ttl: null, max_ttl: 60 });
    const whole = mergeSettings(half, { user_api_key_ttl: { default_ttl: 61 } });
    expect(whole.user_api_key_ttl).toEqual({ default_ttl: 61, max_ttl: 60 });
    expect([ttlFits(half.user_api_key_ttl), ttlFits(whole.user_api_key_ttl), ttlFits(null)]).toEqual([
      true,
      false,
      true,
    ]);
    expect(mergeSettings(whole, { user_api_key_ttl: null }).user_api_key_ttl).toBeNull();
  });
});

describe('the settings in force in a workspace', () => {
  const own: WorkspaceSettings = {
    request_logging: 'metrics_only',
    user_api_key_limit: 5,
    security_settings: { membersViewLogs: false, membersViewPrompts: false },
  };

  test("are the organisation's while every section is closed", () => {
    expect(settingsInForce({ settings: defaultSettings, overrides: {} }, own)).toEqual(defaultSettings);
    expect(settingsInForce({ settings: defaultSettings, overrides: { logs: false } }, own)).toEqual(defaultSettings);
  });

  test("are the workspace's in open sections, and the organisation's where it has none", () => {
    const inForce = settingsInForce(
      { settings: defaultSettings, overrides: { logs: true, user_api_key_settings: true } },
      own,
    );
    expect(inForce).toEqual({
      ...defaultSettings,
      user_api_key_limit: 5,
      security_settings: { ...defaultSettings.security_settings, membersViewLogs: false },
    });
  });
});

describe('opening and closing sections', () => {
  const organisation = { ...defaultSettings, user_api_key_limit: 9 };

  test('opening a plain section gives the workspace the values of the organisation, null included', () => {
    const after = afterOverrideChange({}, organisation, { opened: ['user_api_key_settings'], closed: [] });
    expect(after).toEqual({
      user_api_key_auto_create: false,
      user_api_key_rotation_period: null,
      user_api_key_ttl: null,
      user_api_key_limit: 9,
    });
  });

  test('opening a security section gives it nothing', () => {
    expect(afterOverrideChange({}, organisation, { opened: ['logs', 'data_visibility'], closed: [] })).toEqual({});
  });

  test('closing a section takes its values, and leaves those of others', () => {
    const own: WorkspaceSettings = {
      request_logging: 'metrics_only',
      user_attribution: { enabled: true, allow_override: false },
      security_settings: { membersViewLogs: false, membersViewPrompts: false },
    };
    const change = { opened: [], closed: ['request_logging', 'logs'] as const };
    expect(afterOverrideChange(own, organisation, change)).toEqual({
      user_attribution: { enabled: true, allow_override: false },
      security_settings: { membersViewPrompts: false },
    });
  });
});
