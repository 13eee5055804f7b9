/** Settings of what is sent, kept and given out. */
import { ChoiceSetting, NumberSetting, SwitchSetting, TagsSetting } from './controls.tsx';
import { SettingsSection, useHost } from './host.tsx';

const logging = [
  { value: 'full', label: 'Requests and answers' },
  { value: 'metrics_only', label: 'Metrics only' },
] as const;

export function DataSettings() {
  const { values } = useHost();
  return (
    <>
      <SettingsSection
        section="data_plane_security_settings"
        title="Gateway security"
        help="What a request may bring along by itself."
      >
        {({ mode, save }) => (
          <SwitchSetting
            label="Accept only what is saved"
            help="Requests that carry a config, a provider or an address of their own are refused."
            value={values.data_plane_security_settings.block_inline_config}
            mode={mode}
            onChange={(block_inline_config) => save({ data_plane_security_settings: { block_inline_config } })}
          />
        )}
      </SettingsSection>
      <SettingsSection section="request_logging" title="Request logging" help="What is kept of each request.">
        {({ mode, save }) => (
          <ChoiceSetting
            label="Keep"
            help="With metrics only, no text of a request or an answer is ever stored."
            value={values.request_logging}
            choices={logging}
            mode={mode}
            onChange={(request_logging) => save({ request_logging })}
          />
        )}
      </SettingsSection>
      <SettingsSection section={null} title="Gateway defaults" help="They hold in every workspace.">
        {({ mode, save }) => (
          <>
            <SwitchSetting
              label="Logging cannot be changed by a request"
              help="The header x-gw-debug is then ignored."
              value={values.enforce_debug_log_setting}
              mode={mode}
              onChange={(enforce_debug_log_setting) => save({ enforce_debug_log_setting })}
            />
            <NumberSetting
              label="Cache lifetime"
              help="For cached answers whose config names none."
              value={values.default_cache_max_age}
              suffix="seconds"
              placeholder="No default"
              min={1}
              max={315_360_000}
              mode={mode}
              onSave={(default_cache_max_age) => save({ default_cache_max_age })}
            />
          </>
        )}
      </SettingsSection>
      <SettingsSection
        section="user_attribution"
        title="User attribution"
        help="Whether requests made with user keys carry the name of their owner."
      >
        {({ mode, save }) => (
          <>
            <SwitchSetting
              label="Add the owner's name as _user"
              value={values.user_attribution.enabled}
              mode={mode}
              onChange={(enabled) => save({ user_attribution: { ...values.user_attribution, enabled } })}
            />
            <SwitchSetting
              label="A request may set its own _user"
              value={values.user_attribution.allow_override}
              mode={mode}
              onChange={(allow_override) => save({ user_attribution: { ...values.user_attribution, allow_override } })}
            />
          </>
        )}
      </SettingsSection>
      <SettingsSection section="export_settings" title="Log exports" help="What an export of logs must leave out.">
        {({ mode, save }) => (
          <TagsSetting
            label="Fields to leave out"
            help="For example request, response or metadata."
            value={values.export_settings.deniedFields}
            placeholder="None"
            mode={mode}
            onSave={(deniedFields) => save({ export_settings: { deniedFields } })}
          />
        )}
      </SettingsSection>
    </>
  );
}
