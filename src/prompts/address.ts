/** Which version of a prompt or partial is meant: `slug`, `slug@12`, `slug@latest`, `slug@label`. */

export type VersionAddress =
  | { by: 'published' }
  | { by: 'latest' }
  | { by: 'number'; number: number }
  | { by: 'label'; label: string };

export interface PromptAddress {
  /** Slug or id. */
  reference: string;
  version: VersionAddress;
}

export function parseAddress(text: string): PromptAddress {
  const at = text.indexOf('@');
  if (at === -1) return { reference: text, version: { by: 'published' } };
  return { reference: text.slice(0, at), version: versionOf(text.slice(at + 1)) };
}

/** `default` is the published version; digits alone are a number, whatever labels there are. */
export function versionOf(text: string): VersionAddress {
  if (text === 'latest') return { by: 'latest' };
  if (text === 'default') return { by: 'published' };
  return /^\d{1,9}$/.test(text) ? { by: 'number', number: Number(text) } : { by: 'label', label: text };
}
