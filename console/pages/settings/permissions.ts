/** What managers, members and organisation admins may see and change, by section. The types see to it that no setting is missing. */
import type { SecuritySection, SecuritySetting } from '../../../src/identity/settings.ts';
import type { SettingGroup } from './setting.ts';

interface SectionText {
  section: SecuritySection;
  title: string;
  help: string;
  settings: readonly SecuritySetting[];
}

const securityText: Record<SecuritySetting, string> = {
  membersViewAllData: 'Members see the logs and analytics of everybody, not only their own',
  managersViewAllData: 'Managers see the logs and analytics of everybody, not only their own',
  membersViewAnalytics: 'Members see analytics',
  managersViewAnalytics: 'Managers see analytics',
  membersViewPrompts: 'Members read prompts',
  membersWritePrompts: 'Members create and change prompts',
  managersViewPrompts: 'Managers read prompts',
  managersWritePrompts: 'Managers create and change prompts',
  organisationAdminsViewLogs: 'Organisation admins open request logs',
  organisationAdminsViewLogMetadata: 'Organisation admins see the metadata of requests',
  managersViewLogs: 'Managers open request logs',
  managersViewLogMetadata: 'Managers see the metadata of requests',
  membersViewLogs: 'Members open request logs',
  membersViewLogMetadata: 'Members see the metadata of requests',
  managersWriteWsIntegrations: 'Managers create and change integrations of the workspace',
  managersWriteWsMcpIntegrations: 'Managers create and change MCP integrations of the workspace',
  managersWriteMcpServers: 'Managers create and change MCP servers',
  managersViewGuardrails: 'Managers read guardrails',
  managersWriteGuardrails: 'Managers create and change guardrails',
  membersViewGuardrails: 'Members read guardrails',
  managersViewApiKeys: 'Managers see the keys of the workspace',
  managersWriteApiKeys: 'Managers create, change and delete keys, also for others',
  membersViewApiKeys: 'Members see their own keys',
  membersWriteApiKeys: 'Members create and change their own keys',
  managersViewVirtualKeys: 'Managers see providers',
  managersWriteVirtualKeys: 'Managers create and change providers',
  membersViewVirtualKeys: 'Members see providers',
  managersViewConfigs: 'Managers read configs',
  managersWriteConfigs: 'Managers create and change configs',
  membersViewConfigs: 'Members read configs',
  membersWriteConfigs: 'Members create and change configs',
  managersManageWorkspace: 'Managers set budgets, rate limits and settings of their workspace',
};

export const securitySections: readonly SectionText[] = [
  {
    section: 'api_keys',
    title: 'API keys',
    help: 'Service keys keep working whatever these say.',
    settings: ['managersViewApiKeys', 'managersWriteApiKeys', 'membersViewApiKeys', 'membersWriteApiKeys'],
  },
  {
    section: 'workspace_management',
    title: 'Workspace management',
    help: 'Admins of a workspace may always do this.',
    settings: ['managersManageWorkspace'],
  },
  {
    section: 'data_visibility',
    title: 'Data visibility',
    help: 'When off, people see only what their own user keys did.',
    settings: ['managersViewAllData', 'membersViewAllData'],
  },
  {
    section: 'logs',
    title: 'Request logs',
    help: 'Logs hold what was sent and answered; metadata is time, model, tokens and cost.',
    settings: [
      'organisationAdminsViewLogs',
      'organisationAdminsViewLogMetadata',
      'managersViewLogs',
      'managersViewLogMetadata',
      'membersViewLogs',
      'membersViewLogMetadata',
    ],
  },
  {
    section: 'analytics',
    title: 'Analytics',
    help: 'Graphs of requests, cost and latency.',
    settings: ['managersViewAnalytics', 'membersViewAnalytics'],
  },
  {
    section: 'virtual_keys',
    title: 'Providers',
    help: 'Saved providers and their credentials.',
    settings: ['managersViewVirtualKeys', 'managersWriteVirtualKeys', 'membersViewVirtualKeys'],
  },
  {
    section: 'configs',
    title: 'Configs',
    help: 'Saved routing configs.',
    settings: ['managersViewConfigs', 'managersWriteConfigs', 'membersViewConfigs', 'membersWriteConfigs'],
  },
  {
    section: 'prompts',
    title: 'Prompts',
    help: 'Saved prompts and their versions.',
    settings: ['managersViewPrompts', 'managersWritePrompts', 'membersViewPrompts', 'membersWritePrompts'],
  },
  {
    section: 'guardrails',
    title: 'Guardrails',
    help: 'Checks on what goes in and comes out.',
    settings: ['managersViewGuardrails', 'managersWriteGuardrails', 'membersViewGuardrails'],
  },
  {
    section: 'ws_integrations',
    title: 'Integrations',
    help: 'Integrations that belong to a workspace.',
    settings: ['managersWriteWsIntegrations'],
  },
  {
    section: 'ws_mcp_integrations',
    title: 'MCP integrations',
    help: 'MCP integrations that belong to a workspace.',
    settings: ['managersWriteWsMcpIntegrations'],
  },
  {
    section: 'mcp_servers',
    title: 'MCP servers',
    help: 'MCP servers of a workspace.',
    settings: ['managersWriteMcpServers'],
  },
];

const switchOf = (name: SecuritySetting): SettingGroup['settings'][number] => ({
  kind: 'switch',
  label: securityText[name],
  read: (values) => values.security_settings[name],
  write: (on) => ({ security_settings: { [name]: on } }),
});

export const permissions: readonly SettingGroup[] = securitySections.map(({ settings, ...group }) => ({
  ...group,
  settings: settings.map(switchOf),
}));
