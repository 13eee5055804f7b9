/** The settings of the organisation, grouped by what they are about. */
import { Stack, Tabs } from '@mantine/core';
import type { ReactNode } from 'react';
import { useOverrides, useSaveOverrides, useSaveSettings, useSettings } from '../../api/organisation.ts';
import { useCan } from '../../api/session.ts';
import { navigate } from '../../router/router.tsx';
import { useTell } from '../../ui/notice.tsx';
import { Page, SectionSkeleton } from '../../ui/page.tsx';
import { Fault } from '../../ui/states.tsx';
import { dataSettings } from './data-settings.ts';
import { General } from './general.tsx';
import { SettingGroups } from './groups.tsx';
import { type SettingsHost, SettingsHostProvider } from './host.tsx';
import { keySettings } from './key-settings.ts';
import { permissions } from './permissions.ts';

const tabs: Record<string, { label: string; content: ReactNode }> = {
  general: { label: 'General', content: <General /> },
  keys: { label: 'Keys', content: <SettingGroups groups={keySettings} /> },
  data: { label: 'Data', content: <SettingGroups groups={dataSettings} /> },
  permissions: { label: 'Permissions', content: <SettingGroups groups={permissions} /> },
};

export function SettingsPage({ tab }: { tab: string }) {
  const shown = tab in tabs ? tab : 'general';
  return (
    <Page
      title="Settings"
      description="They hold for the whole organisation. Where workspaces may differ, each can set values of its own."
    >
      <Tabs value={shown} onChange={(next) => next && navigate(next === 'general' ? '/settings' : `/settings/${next}`)}>
        <Tabs.List mb="lg" style={{ overflowX: 'auto', flexWrap: 'nowrap' }}>
          {Object.entries(tabs).map(([value, { label }]) => (
            <Tabs.Tab key={value} value={value} style={{ flexShrink: 0 }}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <OrganisationHost>{tabs[shown]?.content}</OrganisationHost>
      </Tabs>
    </Page>
  );
}

function OrganisationHost({ children }: { children: ReactNode }) {
  const settings = useSettings();
  const overrides = useOverrides();
  const saveSettings = useSaveSettings();
  const saveOverrides = useSaveOverrides();
  const can = useCan();
  const tell = useTell();
  const error = settings.error ?? overrides.error;
  if (error) {
    const retry = () => {
      void settings.refetch();
      void overrides.refetch();
    };
    return <Fault error={error} retry={retry} />;
  }
  if (!settings.data || !overrides.data) {
    return (
      <Stack gap="lg">
        <SectionSkeleton lines={6} />
        <SectionSkeleton lines={3} />
      </Stack>
    );
  }
  const open = overrides.data;
  const host: SettingsHost = {
    values: settings.data,
    open: () => can('organisation_settings.update'),
    async save(change) {
      await saveSettings.mutateAsync(change);
      tell('Saved.');
    },
    overrides: {
      isOpen: (section) => open[section] ?? false,
      async set(section, wanted) {
        await saveOverrides.mutateAsync({ [section]: wanted });
        tell(wanted ? 'Workspaces may set their own values here now.' : 'The organisation decides here again.');
      },
    },
  };
  return (
    <SettingsHostProvider value={host}>
      <Stack gap="lg">{children}</Stack>
    </SettingsHostProvider>
  );
}
