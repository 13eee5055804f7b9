/** Whose settings are on screen, the organisation's or a workspace's, and how a change of them is saved. */
import { Group, Stack, Switch, Text } from '@mantine/core';
import { createContext, type ReactNode, useContext, useState } from 'react';
import type { OverrideSection } from '../../../src/identity/settings.ts';
import type { SettingsInput } from '../../api/organisation.ts';
import type { OrganisationSettings } from '../../api/types.ts';
import { Section } from '../../ui/page.tsx';
import { Fault } from '../../ui/states.tsx';

export interface SettingsHost {
  values: OrganisationSettings;
  /** Whether values of this section can be changed here; `null` stands for what only the organisation decides. */
  open(section: OverrideSection | null): boolean;
  save(change: SettingsInput): Promise<unknown>;
  /** The switches that let workspaces differ; only the organisation has them. */
  overrides: {
    isOpen(section: OverrideSection): boolean;
    set(section: OverrideSection, open: boolean): Promise<unknown>;
  } | null;
}

const HostContext = createContext<SettingsHost | null>(null);
export const SettingsHostProvider = HostContext.Provider;

export function useHost(): SettingsHost {
  const host = useContext(HostContext);
  if (!host) throw new Error('Settings are shown for an organisation or a workspace');
  return host;
}

/** `locked`: decided elsewhere, shown as text; `busy`: a change is on its way. */
export type ControlMode = 'open' | 'busy' | 'locked';

interface SectionState {
  mode: ControlMode;
  save(change: SettingsInput): void;
}

/** A section of settings: each change is saved at once; a refusal is shown where it happened. */
export function SettingsSection(props: {
  section: OverrideSection | null;
  title: string;
  help: string;
  children(state: SectionState): ReactNode;
}) {
  const { section, title, help, children } = props;
  const host = useHost();
  const [fault, setFault] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const attempt = async (work: () => Promise<unknown>) => {
    setFault(null);
    setBusy(true);
    try {
      await work();
    } catch (error) {
      setFault(error);
    } finally {
      setBusy(false);
    }
  };
  const open = host.open(section);
  // What only the organisation decides has no place among a workspace's settings.
  if (section === null && !open) return null;
  return (
    <Section
      title={title}
      description={help}
      actions={
        host.overrides && section ? (
          <Switch
            size="sm"
            labelPosition="left"
            label="Workspaces may differ"
            aria-label={`${title}: workspaces may differ`}
            checked={host.overrides.isOpen(section)}
            disabled={busy}
            onChange={(event) => {
              const wanted = event.currentTarget.checked;
              void attempt(() => host.overrides?.set(section, wanted) ?? Promise.resolve());
            }}
            styles={{ label: { color: 'var(--mantine-color-dimmed)' }, root: { flexShrink: 0 } }}
          />
        ) : !open ? (
          <Text size="xs" c="dimmed" style={{ flexShrink: 0 }}>
            Set by the organisation
          </Text>
        ) : null
      }
    >
      <Stack gap="md">
        {fault ? <Fault error={fault} title="This was not saved" /> : null}
        <div>
          {children({
            mode: open ? (busy ? 'busy' : 'open') : 'locked',
            save: (change) => void attempt(() => host.save(change)),
          })}
        </div>
      </Stack>
    </Section>
  );
}

/** One setting: its name and what it does on the left, its control on the right, or its value in words where it is decided elsewhere. */
export function SettingRow(props: {
  setting: { label: string; help?: string };
  mode: ControlMode;
  htmlFor: string;
  /** The value in words: a control that does nothing would only puzzle. */
  text: string;
  wide?: boolean;
  children: ReactNode;
}) {
  const { setting, mode, htmlFor, text, wide, children } = props;
  const locked = mode === 'locked';
  return (
    <div className="gw-setting" data-wide={(wide && !locked) || undefined}>
      <div>
        <Text size="sm" {...(!locked && { component: 'label', htmlFor })}>
          {setting.label}
        </Text>
        {setting.help && (
          <Text size="xs" c="dimmed" mt={2}>
            {setting.help}
          </Text>
        )}
      </div>
      {locked ? (
        <Text size="sm" c="dimmed" ta="right">
          {text}
        </Text>
      ) : (
        <Group gap="xs" wrap="nowrap">
          {children}
        </Group>
      )}
    </div>
  );
}
