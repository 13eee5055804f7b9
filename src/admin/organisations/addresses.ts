/** The addresses that an organisation shows its people: where its gateway and its MCP gateway answer. */

import { faultOfCustomHost } from '../../http/custom-host.ts';
import { invalid } from '../../http/errors.ts';

/** The address without trailing slashes, once it is one that may be shown and called. */
export function checkedAddress(field: string, url: string, trusted: readonly string[]): string {
  const fault = url.includes('?') ? 'must not have a query' : faultOfCustomHost(url, trusted);
  if (fault) throw invalid(field, fault);
  return url.replace(/\/+$/, '');
}

/** Clients are given the address that SDKs expect, which ends in the version. */
export const withVersion = (url: string): string => (url.endsWith('/v1') ? url : `${url}/v1`);
