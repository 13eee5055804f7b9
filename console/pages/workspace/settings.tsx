/** The settings in force in a workspace; those of sections that the organisation has opened can be changed here. */
import { Alert, Skeleton, Stack } from '@mantine/core';
import type { OrganisationSettings, Workspace } from '../../api/types.ts';
import {
  type InForce,
  type SettingInForce,
  useSaveWorkspaceSettings,
  useWorkspaceSettings,
  type WorkspaceSettingsInForce,
} from '../../api/workspaces.ts';
import { Icon } from '../../ui/icons.tsx';
import { useTell } from '../../ui/notice.tsx';
import { Fault } from '../../ui/states.tsx';
import { type OverrideSection, securitySections } from '../settings/catalog.ts';
import { DataSettings } from '../settings/data-settings.tsx';
import { type SettingsHost, SettingsHostProvider } from '../settings/host.tsx';
import { KeySettings } from '../settings/key-settings.tsx';
import { Permissions } from '../settings/permissions.tsx';

export function WorkspaceSettings({ workspace }: { workspace: Workspace }) {
  const query = useWorkspaceSettings(workspace.id);
  const save = useSaveWorkspaceSettings(workspace.id);
  const tell = useTell();
  if (query.error) return <Fault error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton h={320} />;
  const inForce = query.data;
  const host: SettingsHost = {
    values: valuesOf(inForce),
    open: (section) => section !== null && isOpen(inForce, section),
    async save(change) {
      await save.mutateAsync(change);
      tell('Saved for this workspace.');
    },
    overrides: null,
  };
  return (
    <SettingsHostProvider value={host}>
      <Stack gap="lg">
        <Alert variant="light" color="gray" icon={<Icon name="info" />}>
          These values are in force here. A section can be changed once the organisation lets workspaces differ in it.
        </Alert>
        <KeySettings />
        <DataSettings />
        <Permissions />
      </Stack>
    </SettingsHostProvider>
  );
}

function valuesOf({ security_settings, ...plain }: WorkspaceSettingsInForce): OrganisationSettings {
  return { ...bare(plain), security_settings: bare(security_settings) };
}

const bare = <T extends object>(settings: InForce<T>): T =>
  Object.fromEntries(Object.entries<SettingInForce<unknown>>(settings).map(([name, { value }]) => [name, value])) as T;

/** Every section holds at least one setting; whether that one is open tells it of the section. */
const firstPlainSetting = {
  user_api_key_settings: 'user_api_key_limit',
  request_logging: 'request_logging',
  user_attribution: 'user_attribution',
  export_settings: 'export_settings',
  data_plane_security_settings: 'data_plane_security_settings',
} as const;

function isOpen(inForce: WorkspaceSettingsInForce, section: OverrideSection): boolean {
  if (section in firstPlainSetting) {
    return inForce[firstPlainSetting[section as keyof typeof firstPlainSetting]].overridable;
  }
  const [first] = securitySections.find((text) => text.section === section)?.settings ?? [];
  return first !== undefined && inForce.security_settings[first].overridable;
}
