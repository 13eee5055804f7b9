/** Settings of user keys: how they come to be, how long they live, how often they change. */
import { NumberSetting, SwitchSetting } from './controls.tsx';
import { SettingsSection, useHost } from './host.tsx';

const day = 86_400;

export function KeySettings() {
  const { values, open } = useHost();
  const ttl = values.user_api_key_ttl ?? { default_ttl: null, max_ttl: null };
  return (
    <SettingsSection
      section="user_api_key_settings"
      title="User keys"
      help="User keys belong to one person in one workspace."
    >
      {({ mode, save }) => (
        <>
          <SwitchSetting
            label="Make a key for every new member"
            help="Whoever joins a workspace gets a user key; they reveal it once on the page of API keys."
            value={values.user_api_key_auto_create}
            mode={mode}
            onChange={(user_api_key_auto_create) => save({ user_api_key_auto_create })}
          />
          {open(null) && (
            <SwitchSetting
              label="Make a key in the default workspace"
              help="Replaces the setting above there."
              value={values.default_workspace_user_api_key_auto_create}
              mode={mode}
              onChange={(on) => save({ default_workspace_user_api_key_auto_create: on })}
            />
          )}
          <NumberSetting
            label="Rotation period"
            help="User keys must change this often; keys with another period are refused."
            value={values.user_api_key_rotation_period}
            suffix="days"
            placeholder="Not enforced"
            min={1}
            max={365}
            mode={mode}
            onSave={(user_api_key_rotation_period) => save({ user_api_key_rotation_period })}
          />
          <NumberSetting
            label="Lifetime unless said otherwise"
            help="New user keys end after this time."
            value={ttl.default_ttl}
            unit={day}
            suffix="days"
            placeholder="No end"
            min={0.01}
            max={3650}
            mode={mode}
            onSave={(default_ttl) => save({ user_api_key_ttl: { ...ttl, default_ttl } })}
          />
          <NumberSetting
            label="Longest lifetime"
            help="No user key may be set to end later than this."
            value={ttl.max_ttl}
            unit={day}
            suffix="days"
            placeholder="No bound"
            min={0.01}
            max={3650}
            mode={mode}
            onSave={(max_ttl) => save({ user_api_key_ttl: { ...ttl, max_ttl } })}
          />
          <NumberSetting
            label="Keys for each person"
            help="Active user keys of one person in one workspace."
            value={values.user_api_key_limit}
            suffix="keys"
            placeholder="No limit"
            min={0}
            max={100_000}
            mode={mode}
            onSave={(user_api_key_limit) => save({ user_api_key_limit })}
          />
        </>
      )}
    </SettingsSection>
  );
}
