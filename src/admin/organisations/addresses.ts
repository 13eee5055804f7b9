/** The addresses that an organisation shows its people: where its gateway and its MCP gateway answer. */

import { faultOfCustomHost, type TrustedHosts } from '../../http/custom-host.ts';
import { invalid } from '../../http/errors.ts';

/** The address without trailing slashes, once it is one that may be shown and called. It may well be our own. */
export function checkedAddress(field: string, url: string, { named }: TrustedHosts): string {
  const fault = url.includes('?') ? 'must not have a query' : faultOfCustomHost(url, { named, own: [] });
  if (fault) throw invalid(field, fault);
  return url.replace(/\/+$/, '');
}

/** Clients are given the address that SDKs expect, which ends in the version. */
export const withVersion = (url: string): string => (url.endsWith('/v1') ? url : `${url}/v1`);
