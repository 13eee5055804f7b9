/** Settings of what is sent, kept and given out. */
import type { SettingGroup } from './setting.ts';

export const dataSettings: readonly SettingGroup[] = [
  {
    section: 'data_plane_security_settings',
    title: 'Gateway security',
    help: 'What a request may bring along by itself.',
    settings: [
      {
        kind: 'switch',
        label: 'Accept only what is saved',
        help: 'Requests that carry a config, a provider or an address of their own are refused.',
        read: (values) => values.data_plane_security_settings.block_inline_config,
        write: (block_inline_config) => ({ data_plane_security_settings: { block_inline_config } }),
      },
    ],
  },
  {
    section: 'request_logging',
    title: 'Request logging',
    help: 'What is kept of each request.',
    settings: [
      {
        kind: 'choice',
        label: 'Keep',
        help: 'With metrics only, no text of a request or an answer is ever stored.',
        choices: [
          { value: 'full', label: 'Requests and answers', change: { request_logging: 'full' } },
          { value: 'metrics_only', label: 'Metrics only', change: { request_logging: 'metrics_only' } },
        ],
        read: (values) => values.request_logging,
      },
    ],
  },
  {
    section: null,
    title: 'Gateway defaults',
    help: 'They hold in every workspace.',
    settings: [
      {
        kind: 'switch',
        label: 'Logging cannot be changed by a request',
        help: 'The header x-gw-debug is then ignored.',
        read: (values) => values.enforce_debug_log_setting,
        write: (enforce_debug_log_setting) => ({ enforce_debug_log_setting }),
      },
      {
        kind: 'switch',
        label: 'Streams are asked for their usage',
        help: 'Also where the client did not ask: it does not see the extra chunk.',
        read: (values) => values.stream_usage,
        write: (stream_usage) => ({ stream_usage }),
      },
      {
        kind: 'number',
        label: 'Cache lifetime',
        help: 'For cached answers whose config names none.',
        suffix: 'seconds',
        placeholder: 'No default',
        min: 1,
        max: 315_360_000,
        read: (values) => values.default_cache_max_age,
        write: (default_cache_max_age) => ({ default_cache_max_age }),
      },
    ],
  },
  {
    section: 'user_attribution',
    title: 'User attribution',
    help: 'Whether requests made with user keys carry the name of their owner.',
    settings: [
      {
        kind: 'switch',
        label: "Add the owner's name as _user",
        read: (values) => values.user_attribution.enabled,
        write: (enabled) => ({ user_attribution: { enabled } }),
      },
      {
        kind: 'switch',
        label: 'A request may set its own _user',
        read: (values) => values.user_attribution.allow_override,
        write: (allow_override) => ({ user_attribution: { allow_override } }),
      },
    ],
  },
  {
    section: 'export_settings',
    title: 'Log exports',
    help: 'What an export of logs must leave out.',
    settings: [
      {
        kind: 'tags',
        label: 'Fields to leave out',
        help: 'For example request, response or metadata.',
        placeholder: 'None',
        read: (values) => values.export_settings.deniedFields,
        write: (deniedFields) => ({ export_settings: { deniedFields } }),
      },
    ],
  },
];
