/** A workspace's own settings: which it may hold, how a change joins them, and what is in force with its source. */
import { type FieldError, invalid, invalidFields } from '../../http/errors.ts';
import {
  mergeSettings,
  type OrganisationLayer,
  type OrganisationSettings,
  overrideSections,
  ownValuesInForce,
  ownValuesOf,
  type SettingSource,
  sectionOf,
  settingsInForce,
  settingsOf,
  ttlFits,
  type WorkspaceOverrides,
  type WorkspaceSettings,
  type WorkspaceSettingsUpdate,
} from '../../identity/settings.ts';

/** The workspace's own settings after the update; a section that the organisation keeps to itself is refused by name. */
export function updatedSettings(
  organisation: OrganisationLayer,
  own: WorkspaceSettings,
  update: WorkspaceSettingsUpdate,
  /** Where the plain settings stand in the body, for the refusal. */
  plainPath: '' | 'settings.',
): WorkspaceSettings {
  const { security_settings, ...plain } = update;
  const sections = new Set(Object.keys(plain).map(sectionOf));
  requireOpen(organisation.overrides, [
    ...Object.keys(plain).map((name) => ({ name, path: plainPath + name })),
    ...Object.keys(security_settings ?? {}).map((name) => ({ name, path: `security_settings.${name}` })),
  ]);
  const merged = mergeSettings(settingsInForce(organisation, own), update);
  if (!ttlFits(merged.user_api_key_ttl)) {
    throw invalid(`${plainPath}user_api_key_ttl`, 'default_ttl may not be longer than max_ttl');
  }
  return Object.assign(
    {},
    own,
    ...[...sections].map((section) => ownValuesOf(section, merged)),
    security_settings && { security_settings: { ...own.security_settings, ...security_settings } },
  );
}

function requireOpen(overrides: WorkspaceOverrides, sent: readonly { name: string; path: string }[]): void {
  const faults = sent.flatMap(({ name, path }): FieldError[] => {
    const section = sectionOf(name);
    if (overrides[section]) return [];
    const message = `belongs to the section ${section}, which the organisation has not opened to workspaces`;
    return [{ location: 'body', path, message }];
  });
  if (faults.length > 0) throw invalidFields(faults);
}

export interface SourcedValue<T> {
  value: T;
  source: SettingSource;
  /** True when the workspace may hold a value of its own. */
  overridable: boolean;
}

export type Sourced<T> = { [K in keyof T]: SourcedValue<T[K]> };

export type SourcedSettings = Sourced<Omit<OrganisationSettings, 'security_settings'>> & {
  security_settings: Sourced<OrganisationSettings['security_settings']>;
};

/** Every value in force in the workspace, and who set it. */
export function sourcedSettings(organisation: OrganisationLayer, own: WorkspaceSettings): SourcedSettings {
  const counting = ownValuesInForce(organisation.overrides, own);
  const open = openSettings(organisation.overrides);
  const { security_settings, ...plain } = settingsInForce(organisation, own);
  return {
    ...withSources(plain, counting.plain, open),
    security_settings: withSources(security_settings, counting.security, open),
  };
}

function withSources<T extends object>(values: T, own: object, open: ReadonlySet<string>): Sourced<T> {
  const entries = Object.entries(values).map(([name, value]) => [
    name,
    { value, source: name in own ? 'workspace' : 'organisation', overridable: open.has(name) },
  ]);
  return Object.fromEntries(entries) as Sourced<T>;
}

const openSettings = (overrides: WorkspaceOverrides): ReadonlySet<string> =>
  new Set(overrideSections.filter((section) => overrides[section]).flatMap(settingsOf));
