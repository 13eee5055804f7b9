/** A setting as a value: what it is called, how it is read from the settings, and the change that it makes. */
import type { OverrideSection } from '../../../src/identity/settings.ts';
import type { SettingsInput } from '../../api/organisation.ts';
import type { OrganisationSettings } from '../../api/types.ts';

interface Described {
  label: string;
  help?: string;
  /** True for what no workspace has a value of. */
  organisationOnly?: true;
}

interface Stored<T> {
  read(values: OrganisationSettings): T;
  write(value: T): SettingsInput;
}

export interface SwitchSetting extends Described, Stored<boolean> {
  kind: 'switch';
}

/** Each choice says which change it is. */
export interface ChoiceSetting extends Described {
  kind: 'choice';
  choices: readonly { value: string; label: string; change: SettingsInput }[];
  read(values: OrganisationSettings): string;
}

/** A number that may be absent; `unit` is what one of it is worth in the service's own unit. */
export interface NumberSetting extends Described, Stored<number | null> {
  kind: 'number';
  unit?: number;
  suffix: string;
  /** What stands where there is no number. */
  placeholder: string;
  min: number;
  max: number;
}

export interface TagsSetting extends Described, Stored<string[]> {
  kind: 'tags';
  placeholder: string;
}

export type Setting = SwitchSetting | ChoiceSetting | NumberSetting | TagsSetting;

/** Settings that stand together. `section` is what workspaces may be let differ in; null: only the organisation decides. */
export interface SettingGroup {
  section: OverrideSection | null;
  title: string;
  help: string;
  settings: readonly Setting[];
}
