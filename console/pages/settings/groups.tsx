/** Groups of settings on screen: a section for each, and in it the controls. */
import type { SettingsInput } from '../../api/organisation.ts';
import type { OrganisationSettings } from '../../api/types.ts';
import { ChoiceControl, NumberControl, SwitchControl, TagsControl } from './controls.tsx';
import { type ControlMode, SettingsSection, useHost } from './host.tsx';
import type { Setting, SettingGroup } from './setting.ts';

export function SettingGroups({ groups }: { groups: readonly SettingGroup[] }) {
  const { values, open } = useHost();
  return groups.map(({ section, title, help, settings }) => (
    <SettingsSection key={title} section={section} title={title} help={help}>
      {({ mode, save }) =>
        settings
          .filter(({ organisationOnly }) => !organisationOnly || open(null))
          .map((setting) => <Control key={setting.label} setting={setting} values={values} mode={mode} save={save} />)
      }
    </SettingsSection>
  ));
}

function Control(props: {
  setting: Setting;
  values: OrganisationSettings;
  mode: ControlMode;
  save(change: SettingsInput): void;
}) {
  const { setting, values, mode, save } = props;
  switch (setting.kind) {
    case 'switch':
      return <SwitchControl setting={setting} values={values} mode={mode} save={save} />;
    case 'choice':
      return <ChoiceControl setting={setting} values={values} mode={mode} save={save} />;
    case 'number':
      return <NumberControl setting={setting} values={values} mode={mode} save={save} />;
    case 'tags':
      return <TagsControl setting={setting} values={values} mode={mode} save={save} />;
  }
}
