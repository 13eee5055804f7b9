/** Reads the settings of a target: text under any of the names that it goes by, and parts of host names that cannot lead elsewhere. */
import { RequestFault } from './faults.ts';
import type { TargetFields } from './provider.ts';

/** The first of these settings that is there; null where none is. */
export function setting(fields: TargetFields, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = fields[name];
    // Half a surrogate pair cannot stand in an address or a header.
    if (typeof value === 'string' && value !== '') return value.toWellFormed();
  }
  return null;
}

export function needSetting(fields: TargetFields, ...names: readonly string[]): string {
  const [name = ''] = names;
  return setting(fields, ...names) ?? missing(name);
}

function missing(name: string): never {
  throw new RequestFault(name, `the setting ${name} is missing: set it on the integration or the target`);
}

const label = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

/** A setting that becomes one label of a host name: nothing in it may end the label. */
export function hostLabel(fields: TargetFields, ...names: readonly string[]): string {
  const [name = ''] = names;
  const value = needSetting(fields, ...names);
  if (label.test(value)) return value;
  throw new RequestFault(name, `the setting ${name} may hold only letters, digits and hyphens`);
}

/** A setting that becomes one or more labels of a host name, such as an account with its region. */
export function hostLabels(fields: TargetFields, ...names: readonly string[]): string {
  const [name = ''] = names;
  const value = needSetting(fields, ...names);
  if (value.split('.').every((part) => label.test(part))) return value;
  throw new RequestFault(name, `the setting ${name} may hold only letters, digits, hyphens and dots between them`);
}
