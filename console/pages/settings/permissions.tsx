/** What managers, members and organisation admins may see and change, by section. */
import { securitySections, securityText } from './catalog.ts';
import { SwitchSetting } from './controls.tsx';
import { SettingsSection, useHost } from './host.tsx';

export function Permissions() {
  const { values } = useHost();
  return securitySections.map(({ section, title, help, settings }) => (
    <SettingsSection key={section} section={section} title={title} help={help}>
      {({ mode, save }) =>
        settings.map((name) => (
          <SwitchSetting
            key={name}
            label={securityText[name]}
            value={values.security_settings[name]}
            mode={mode}
            onChange={(on) => save({ security_settings: { [name]: on } })}
          />
        ))
      }
    </SettingsSection>
  ));
}
