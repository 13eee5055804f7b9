/** Domain names that an organisation may claim: well formed, below a public suffix, and nobody's public mail service. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { commonSuffixes } from './common-suffixes.ts';
import { publicMailProviders } from './public-mail-providers.ts';

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const hostName = new RegExp(`^(?:${label}\\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,58}[a-z0-9])$`);

/** The suffix below which names of this domain are registered: `co.uk`, `com`. */
function suffixOf(labels: readonly string[]): string {
  const lastTwo = labels.slice(-2).join('.');
  return commonSuffixes.has(lastTwo) ? lastTwo : labels.slice(-1).join('.');
}

/** The registrable domain: `mail.acme.co.uk` belongs to `acme.co.uk`. Null for a name that is itself a suffix. */
export function rootOf(domain: string): string | null {
  const labels = domain.split('.');
  const own = labels.length - suffixOf(labels).split('.').length;
  return own < 1 ? null : labels.slice(own - 1).join('.');
}

export const isRoot = (domain: string): boolean => rootOf(domain) === domain;

export const domainName = lazy(() =>
  z
    .string()
    .trim()
    .toLowerCase()
    .max(253)
    .regex(hostName, 'must be a domain name such as acme.com, in ASCII (xn-- for other letters)')
    .superRefine((domain, issues) => {
      const root = rootOf(domain);
      if (root === null) issues.addIssue({ code: 'custom', message: 'is a public suffix; name a domain below it' });
      else if (publicMailProviders.has(root)) {
        issues.addIssue({ code: 'custom', message: 'is a public mail service; anyone can have an address there' });
      }
    }),
);
