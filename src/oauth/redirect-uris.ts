/** Where a client may be redirected to: checked strictly when it registers, and compared exactly when it comes back. */
import { faultOfCustomHost } from '../http/custom-host.ts';

export interface RedirectRules {
  /** Schemes of native applications that may be used besides https. */
  schemes: readonly string[];
  /** Hosts that may be used; empty: any public one. */
  hosts: readonly string[];
}

const longest = 2048;
const mostUris = 10;
const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);
/** A browser that is sent there runs code or opens files. */
const dangerous = new Set([
  'javascript',
  'data',
  'file',
  'blob',
  'about',
  'vbscript',
  'ws',
  'wss',
  'ftp',
  'view-source',
]);

/** Why the list cannot be registered, or null when it can. */
export function faultOfRedirectUris(uris: unknown, rules: RedirectRules): string | null {
  if (!Array.isArray(uris) || uris.length === 0) return 'redirect_uris must be a list of at least one address';
  if (uris.length > mostUris) return `redirect_uris may have at most ${mostUris} entries`;
  for (const uri of uris) {
    const fault = typeof uri === 'string' ? faultOfRedirectUri(uri, rules) : 'is no text';
    if (fault) return `a redirect_uri ${fault}`;
  }
  return null;
}

export function faultOfRedirectUri(uri: string, { schemes, hosts }: RedirectRules): string | null {
  if (uri.length > longest) return `is longer than ${longest} characters`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose.
  if (/[\u0000-\u0020\u007f-\uffff\\]/.test(uri))
    return 'holds spaces, control or non-ASCII characters, or a backslash';
  if (uri.includes('#')) return 'has a fragment';
  if (uri.includes('*')) return 'has a wildcard';
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(uri)?.[1]?.toLowerCase();
  const bare = /^([a-z][a-z0-9+.-]*):/i.exec(uri)?.[1]?.toLowerCase();
  if (bare && dangerous.has(bare)) return `must not use the scheme ${bare}`;
  const url = URL.parse(uri);
  if (!scheme || !url) return 'is no absolute address with an authority';
  if (url.username !== '' || url.password !== '' || /^[^/]*:\/\/[^/]*@/.test(uri)) return 'holds credentials';
  if (scheme === 'http') return loopback.has(url.hostname) ? null : 'uses http elsewhere than on loopback';
  if (scheme === 'https') return faultOfHttps(uri, url, hosts);
  if (!schemes.includes(scheme)) return `uses the scheme ${scheme}, which is not allowed`;
  return url.host === '' ? 'has no authority' : null;
}

function faultOfHttps(uri: string, { hostname }: URL, hosts: readonly string[]): string | null {
  if (hosts.length > 0 && !hosts.includes(hostname.toLowerCase())) return 'names a host that is not allowed';
  if (loopback.has(hostname)) return null;
  const fault = faultOfCustomHost(uri.split('?', 1)[0] ?? '', { named: [], own: [] });
  return fault ? 'must name a public host' : null;
}

/** The very same address; on loopback the port may differ, because native clients listen on whichever is free. */
export function isRegistered(registered: readonly string[], asked: string): boolean {
  if (registered.includes(asked)) return true;
  const url = URL.parse(asked);
  if (url?.protocol !== 'http:' || !loopback.has(url.hostname)) return false;
  return registered.some((one) => {
    const known = URL.parse(one);
    return (
      known?.protocol === 'http:' &&
      known.hostname === url.hostname &&
      known.pathname === url.pathname &&
      known.search === url.search &&
      url.hash === ''
    );
  });
}
