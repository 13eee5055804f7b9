/** Settings of user keys: how they come to be, how long they live, how often they change. */
import type { SettingGroup } from './setting.ts';

const day = 86_400;
const lifetime = { unit: day, suffix: 'days', min: 0.01, max: 3650 } as const;

export const keySettings: readonly SettingGroup[] = [
  {
    section: 'user_api_key_settings',
    title: 'User keys',
    help: 'User keys belong to one person in one workspace.',
    settings: [
      {
        kind: 'switch',
        label: 'Make a key for every new member',
        help: 'Whoever joins a workspace gets a user key; they reveal it once on the page of API keys.',
        read: (values) => values.user_api_key_auto_create,
        write: (user_api_key_auto_create) => ({ user_api_key_auto_create }),
      },
      {
        kind: 'switch',
        label: 'Make a key in the default workspace',
        help: 'Replaces the setting above there.',
        organisationOnly: true,
        read: (values) => values.default_workspace_user_api_key_auto_create,
        write: (on) => ({ default_workspace_user_api_key_auto_create: on }),
      },
      {
        kind: 'number',
        label: 'Rotation period',
        help: 'User keys must change this often; keys with another period are refused.',
        suffix: 'days',
        placeholder: 'Not enforced',
        min: 1,
        max: 365,
        read: (values) => values.user_api_key_rotation_period,
        write: (user_api_key_rotation_period) => ({ user_api_key_rotation_period }),
      },
      {
        kind: 'number',
        ...lifetime,
        label: 'Lifetime unless said otherwise',
        help: 'New user keys end after this time.',
        placeholder: 'No end',
        read: (values) => values.user_api_key_ttl?.default_ttl ?? null,
        write: (default_ttl) => ({ user_api_key_ttl: { default_ttl } }),
      },
      {
        kind: 'number',
        ...lifetime,
        label: 'Longest lifetime',
        help: 'No user key may be set to end later than this.',
        placeholder: 'No bound',
        read: (values) => values.user_api_key_ttl?.max_ttl ?? null,
        write: (max_ttl) => ({ user_api_key_ttl: { max_ttl } }),
      },
      {
        kind: 'number',
        label: 'Keys for each person',
        help: 'Active user keys of one person in one workspace.',
        suffix: 'keys',
        placeholder: 'No limit',
        min: 0,
        max: 100_000,
        read: (values) => values.user_api_key_limit,
        write: (user_api_key_limit) => ({ user_api_key_limit }),
      },
    ],
  },
];
