/** The settings in force in a workspace; those of sections that the organisation has opened can be changed here. */
import { Alert, Stack } from '@mantine/core';
import type { Sourced, SourcedSettings, SourcedValue } from '../../../src/admin/workspaces/settings.ts';
import type { OverrideSection } from '../../../src/identity/settings.ts';
import { useSelf } from '../../api/session.ts';
import type { OrganisationSettings, Workspace } from '../../api/types.ts';
import { useSaveWorkspaceSettings, useWorkspaceSettings } from '../../api/workspaces.ts';
import { Icon } from '../../ui/icons.tsx';
import { useTell } from '../../ui/notice.tsx';
import { SectionSkeleton } from '../../ui/page.tsx';
import { Fault } from '../../ui/states.tsx';
import { dataSettings } from '../settings/data-settings.ts';
import { SettingGroups } from '../settings/groups.tsx';
import { type SettingsHost, SettingsHostProvider } from '../settings/host.tsx';
import { keySettings } from '../settings/key-settings.ts';
import { permissions, securitySections } from '../settings/permissions.ts';

export function WorkspaceSettings({ workspace }: { workspace: Workspace }) {
  const query = useWorkspaceSettings(workspace.id);
  const save = useSaveWorkspaceSettings(workspace.id);
  const tell = useTell();
  const self = useSelf();
  if (query.error) return <Fault error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <SectionSkeleton lines={5} />;
  const inForce = query.data;
  const role = self.workspaces.find(({ id }) => id === workspace.id)?.role;
  // The setting that opens a workspace's settings to its managers is one of them.
  const mayManage =
    self.organisation.role !== 'member' ||
    role === 'admin' ||
    (role === 'manager' && inForce.security_settings.managersManageWorkspace.value);
  const host: SettingsHost = {
    values: valuesOf(inForce),
    open: (section) => section !== null && mayManage && isOpen(inForce, section),
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
        <SettingGroups groups={[...keySettings, ...dataSettings, ...permissions]} />
      </Stack>
    </SettingsHostProvider>
  );
}

function valuesOf({ security_settings, ...plain }: SourcedSettings): OrganisationSettings {
  return { ...bare(plain), security_settings: bare(security_settings) };
}

const bare = <T extends object>(settings: Sourced<T>): T =>
  Object.fromEntries(Object.entries<SourcedValue<unknown>>(settings).map(([name, { value }]) => [name, value])) as T;

/** Every section holds at least one setting; whether that one is open tells it of the section. */
const firstPlainSetting = {
  user_api_key_settings: 'user_api_key_limit',
  request_logging: 'request_logging',
  user_attribution: 'user_attribution',
  export_settings: 'export_settings',
  data_plane_security_settings: 'data_plane_security_settings',
} as const;

const isPlain = (section: OverrideSection): section is keyof typeof firstPlainSetting => section in firstPlainSetting;

function isOpen(inForce: SourcedSettings, section: OverrideSection): boolean {
  if (isPlain(section)) return inForce[firstPlainSetting[section]].overridable;
  const [first] = securitySections.find((text) => text.section === section)?.settings ?? [];
  return first !== undefined && inForce.security_settings[first].overridable;
}
