/** Organisation settings, the sections of them that workspaces may override, and the values that are in force in a workspace. */
import { z } from 'zod';
import { lazy } from '../lazy.ts';
import { deniableFields, isDeniable } from '../logs/exports/fields.ts';

/** Security settings by section, with their defaults. */
const securitySections = {
  data_visibility: { membersViewAllData: true, managersViewAllData: true },
  analytics: { membersViewAnalytics: true, managersViewAnalytics: true },
  prompts: {
    membersViewPrompts: true,
    membersWritePrompts: false,
    managersViewPrompts: true,
    managersWritePrompts: true,
  },
  logs: {
    organisationAdminsViewLogs: true,
    organisationAdminsViewLogMetadata: true,
    managersViewLogs: true,
    managersViewLogMetadata: true,
    membersViewLogs: true,
    membersViewLogMetadata: true,
  },
  ws_integrations: { managersWriteWsIntegrations: true },
  ws_mcp_integrations: { managersWriteWsMcpIntegrations: true },
  mcp_servers: { managersWriteMcpServers: true },
  guardrails: { managersViewGuardrails: true, managersWriteGuardrails: true, membersViewGuardrails: true },
  api_keys: {
    managersViewApiKeys: true,
    managersWriteApiKeys: true,
    membersViewApiKeys: true,
    membersWriteApiKeys: false,
  },
  virtual_keys: { managersViewVirtualKeys: true, managersWriteVirtualKeys: true, membersViewVirtualKeys: true },
  configs: {
    managersViewConfigs: true,
    managersWriteConfigs: true,
    membersViewConfigs: true,
    membersWriteConfigs: false,
  },
  workspace_management: { managersManageWorkspace: false },
} as const;

type SecuritySections = typeof securitySections;
export type SecuritySection = keyof SecuritySections;
export type SecuritySetting = { [S in SecuritySection]: keyof SecuritySections[S] }[SecuritySection];
export type SecuritySettings = Record<SecuritySetting, boolean>;

const securityDefaults = Object.assign({}, ...Object.values(securitySections)) as SecuritySettings;

/** The plain settings that a workspace may hold own values of, by section. */
const plainSections = {
  user_api_key_settings: [
    'user_api_key_auto_create',
    'user_api_key_rotation_period',
    'user_api_key_ttl',
    'user_api_key_limit',
  ],
  request_logging: ['request_logging'],
  user_attribution: ['user_attribution'],
  export_settings: ['export_settings'],
  data_plane_security_settings: ['data_plane_security_settings'],
} as const;

type PlainSection = keyof typeof plainSections;
type OverridablePlainSetting = (typeof plainSections)[PlainSection][number];
export type OverrideSection = SecuritySection | PlainSection;

export const overrideSections = [...Object.keys(securitySections), ...Object.keys(plainSections)] as OverrideSection[];

export const securityShape = lazy(
  () =>
    Object.fromEntries(Object.keys(securityDefaults).map((name) => [name, z.boolean()])) as Record<
      SecuritySetting,
      z.ZodBoolean
    >,
);

const year = 365 * 86_400;
const seconds = () =>
  z
    .int()
    .min(1)
    .max(10 * year);

const rotationPeriodSchema = () =>
  z
    .union([z.int().min(1).max(365), z.enum(['weekly', 'monthly'])], {
      error: 'must be a whole number of days from 1 to 365, or weekly, or monthly',
    })
    .transform((period) => (period === 'weekly' ? 7 : period === 'monthly' ? 30 : period))
    .describe('Days between rotations, 1 to 365; `weekly` is kept as 7 and `monthly` as 30');

interface KeyTtl {
  default_ttl: number | null;
  max_ttl: number | null;
}

const ttlSchema = () =>
  z.union(
    [
      seconds().transform((ttl): Partial<KeyTtl> => ({ default_ttl: ttl, max_ttl: ttl })),
      z.strictObject({ default_ttl: seconds().nullable(), max_ttl: seconds().nullable() }).exactPartial(),
    ],
    { error: 'must be a number of seconds, or an object with default_ttl and max_ttl in seconds or null' },
  );

/** False when keys would by default live longer than any key may. */
export const ttlFits = (ttl: KeyTtl | null): boolean =>
  ttl === null || ttl.default_ttl === null || ttl.max_ttl === null || ttl.default_ttl <= ttl.max_ttl;

export const semanticCacheSchema = () =>
  z.strictObject({
    provider: z
      .string()
      .max(256)
      .refine((text) => /^@[\w.-]+$/.test(text), { message: 'write the slug of a saved provider as @slug' }),
    model: z.string().min(1).max(255),
    dimensions: z.int().min(1).max(16_384).nullable().default(null),
    similarity_threshold: z.number().min(0).max(1).nullable().default(null),
  });

/** What a settings update may carry: any subset, nothing unknown. */
const settingsShape = lazy(() => ({
  user_api_key_auto_create: z.boolean(),
  default_workspace_user_api_key_auto_create: z.boolean(),
  user_api_key_rotation_period: rotationPeriodSchema().nullable(),
  user_api_key_ttl: ttlSchema().nullable(),
  user_api_key_limit: z.int().min(0).max(100_000).nullable(),
  request_logging: z.enum(['full', 'metrics_only']),
  enforce_debug_log_setting: z.boolean(),
  stream_usage: z.boolean().describe('Streams are asked for their usage, also where the client did not ask'),
  default_cache_max_age: z
    .int()
    .min(1)
    .max(10 * year)
    .nullable(),
  semantic_cache: semanticCacheSchema()
    .nullable()
    .describe('Which saved provider embeds questions for the semantic cache; null: what the installation says'),
  user_attribution: z.strictObject({ enabled: z.boolean(), allow_override: z.boolean() }).exactPartial(),
  export_settings: z.strictObject({
    deniedFields: z
      .array(
        z
          .string()
          .max(100)
          .refine(isDeniable, `must be one of ${deniableFields.join(', ')}`),
      )
      .max(100)
      .describe(`Fields that exports of logs must leave out: ${deniableFields.join(', ')}`),
  }),
  disable_getting_started: z.boolean(),
  session_settings: z.strictObject({
    max_session_ttl: z
      .int()
      .min(900)
      .max(10 * year)
      .nullable(),
  }),
  data_plane_security_settings: z.strictObject({ block_inline_config: z.boolean() }),
  security_settings: z.strictObject(securityShape()).exactPartial(),
}));

export const organisationSettingsUpdate = lazy(() => z.strictObject(settingsShape()).exactPartial());
type OrganisationSettingsUpdate = z.output<ReturnType<typeof organisationSettingsUpdate>>;

/** What a workspace may set for itself; whether its section is open is checked against the organisation. */
export const workspaceSettingsUpdate = lazy(() =>
  z
    .strictObject({
      user_api_key_auto_create: settingsShape().user_api_key_auto_create,
      user_api_key_rotation_period: settingsShape().user_api_key_rotation_period,
      user_api_key_ttl: settingsShape().user_api_key_ttl,
      user_api_key_limit: settingsShape().user_api_key_limit,
      request_logging: settingsShape().request_logging,
      user_attribution: settingsShape().user_attribution,
      export_settings: settingsShape().export_settings,
      data_plane_security_settings: settingsShape().data_plane_security_settings,
      security_settings: settingsShape().security_settings,
    })
    .exactPartial(),
);
export type WorkspaceSettingsUpdate = z.output<ReturnType<typeof workspaceSettingsUpdate>>;

export interface OrganisationSettings {
  user_api_key_auto_create: boolean;
  default_workspace_user_api_key_auto_create: boolean;
  user_api_key_rotation_period: number | null;
  user_api_key_ttl: KeyTtl | null;
  user_api_key_limit: number | null;
  request_logging: 'full' | 'metrics_only';
  enforce_debug_log_setting: boolean;
  stream_usage: boolean;
  default_cache_max_age: number | null;
  semantic_cache: z.output<ReturnType<typeof semanticCacheSchema>> | null;
  user_attribution: { enabled: boolean; allow_override: boolean };
  export_settings: { deniedFields: string[] };
  disable_getting_started: boolean;
  session_settings: { max_session_ttl: number | null };
  data_plane_security_settings: { block_inline_config: boolean };
  security_settings: SecuritySettings;
}

/** A workspace's own values; only those of open sections are kept and count. */
export type WorkspaceSettings = Partial<Pick<OrganisationSettings, OverridablePlainSetting>> & {
  security_settings?: Partial<SecuritySettings>;
};

export type WorkspaceOverrides = Partial<Record<OverrideSection, boolean>>;

export const defaultSettings: OrganisationSettings = {
  user_api_key_auto_create: false,
  default_workspace_user_api_key_auto_create: false,
  user_api_key_rotation_period: null,
  user_api_key_ttl: null,
  user_api_key_limit: null,
  request_logging: 'full',
  enforce_debug_log_setting: false,
  stream_usage: true,
  default_cache_max_age: null,
  semantic_cache: null,
  user_attribution: { enabled: false, allow_override: false },
  export_settings: { deniedFields: [] },
  disable_getting_started: false,
  session_settings: { max_session_ttl: null },
  data_plane_security_settings: { block_inline_config: true },
  security_settings: securityDefaults,
};

const noTtl: KeyTtl = { default_ttl: null, max_ttl: null };

/** Settings with an update laid over them: objects are merged one level deep, so that only what was sent changes. */
export function mergeSettings(
  settings: OrganisationSettings,
  update: OrganisationSettingsUpdate | WorkspaceSettingsUpdate,
): OrganisationSettings {
  const sent: OrganisationSettingsUpdate = update;
  const ttl = sent.user_api_key_ttl;
  return {
    ...settings,
    ...sent,
    user_api_key_ttl: ttl
      ? { ...noTtl, ...settings.user_api_key_ttl, ...ttl }
      : ttl === null
        ? null
        : settings.user_api_key_ttl,
    user_attribution: { ...settings.user_attribution, ...sent.user_attribution },
    export_settings: { ...settings.export_settings, ...sent.export_settings },
    session_settings: { ...settings.session_settings, ...sent.session_settings },
    data_plane_security_settings: { ...settings.data_plane_security_settings, ...sent.data_plane_security_settings },
    security_settings: { ...settings.security_settings, ...sent.security_settings },
  };
}

/** Where a setting in force comes from. */
export type SettingSource = 'organisation' | 'workspace';

export interface OrganisationLayer {
  settings: OrganisationSettings;
  overrides: WorkspaceOverrides;
}

/** The values in force in a workspace: its own in open sections, the organisation's everywhere else. */
export function settingsInForce(organisation: OrganisationLayer, workspace: WorkspaceSettings): OrganisationSettings {
  const own = ownValuesInForce(organisation.overrides, workspace);
  return {
    ...organisation.settings,
    ...own.plain,
    security_settings: { ...organisation.settings.security_settings, ...own.security },
  };
}

/** The workspace's own values that count, by layer of the settings object. */
export function ownValuesInForce(overrides: WorkspaceOverrides, workspace: WorkspaceSettings) {
  const plain: Partial<Pick<OrganisationSettings, OverridablePlainSetting>> = {};
  const security: Partial<SecuritySettings> = {};
  for (const section of overrideSections) {
    if (!overrides[section]) continue;
    Object.assign(isSecuritySection(section) ? security : plain, ownValuesOf(section, workspace));
  }
  return { plain, security };
}

export const isSecuritySection = (section: OverrideSection): section is SecuritySection => section in securitySections;

/** A workspace's own values once sections were opened to it or closed: plain ones start as the organisation's, closed ones go. */
export function afterOverrideChange(
  own: WorkspaceSettings,
  organisation: OrganisationSettings,
  change: { opened: readonly OverrideSection[]; closed: readonly OverrideSection[] },
): WorkspaceSettings {
  const gone = new Set(change.closed.flatMap(settingsOf));
  const without = (values: object) => Object.fromEntries(Object.entries(values).filter(([name]) => !gone.has(name)));
  const { security_settings = {}, ...plain } = own;
  const security = without(security_settings);
  // Security settings are not copied: a workspace without a value of its own goes on following the organisation.
  const copied = change.opened.filter((section) => !isSecuritySection(section));
  return Object.assign(
    without(plain),
    ...copied.map((section) => ownValuesOf(section, organisation)),
    Object.keys(security).length > 0 && { security_settings: security },
  );
}

/** The names of a section's settings. */
export const settingsOf = (section: OverrideSection): readonly string[] =>
  isSecuritySection(section) ? Object.keys(securitySections[section]) : plainSections[section];

const sectionByName: ReadonlyMap<string, OverrideSection> = new Map(
  overrideSections.flatMap((section) => settingsOf(section).map((name): [string, OverrideSection] => [name, section])),
);

/** The section that a setting belongs to; every overridable setting has one. */
export function sectionOf(setting: string): OverrideSection {
  const section = sectionByName.get(setting);
  if (!section) throw new Error(`${setting} belongs to no overridable section`);
  return section;
}

/** What `from` holds of a section: security values stand one level deeper than plain ones. */
export function ownValuesOf(section: OverrideSection, from: WorkspaceSettings | OrganisationSettings): object {
  const holder: Record<string, unknown> = isSecuritySection(section)
    ? { ...from.security_settings }
    : { ...from, security_settings: undefined };
  return Object.fromEntries(
    settingsOf(section)
      .filter((name) => holder[name] !== undefined)
      .map((name) => [name, holder[name]]),
  );
}
