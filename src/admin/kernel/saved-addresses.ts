/** Names in addresses that are about to be saved: one that leads where nobody may call is refused at once, not only when it is dialled. */
import { jsonOrNothing } from '../../bounded-json.ts';
import { faultOfCustomHost } from '../../http/custom-host.ts';
import { invalidFields } from '../../http/errors.ts';
import type { Services } from './services.ts';

const mostAddresses = 32;
const deepest = 12;

/** Fields that hold an address which the service itself calls. */
const addressField = /(?:host|url|uri|endpoint|issuer|addr|address)$/i;
/** These are shown, or sent elsewhere. */
const notCalled = /^(?:redirect|logo|client|tos|policy|icon|documentation|image)_?ur[il]s?$/i;
/** What is handed to a provider as it is. */
const handedOn = new Set(['override_params', 'metadata', 'tags']);

/** A name that nobody knows yet is accepted; it is looked up again before each call. */
export async function refuseLedAstray(
  body: unknown,
  { settings, hostFault }: Pick<Services, 'settings' | 'hostFault'>,
  organisationId: string,
): Promise<void> {
  const found = addressesIn(body).filter(({ url }) => faultOfCustomHost(url, settings.trustedHosts) === null);
  const faults = await Promise.all(found.map(({ url }) => hostFault(url, organisationId)));
  const index = faults.findIndex((fault) => fault !== null);
  const path = found[index]?.path;
  if (path !== undefined) throw invalidFields([{ location: 'body', path, message: faults[index] ?? '' }]);
}

interface Found {
  path: string;
  url: string;
}

function addressesIn(body: unknown): Found[] {
  const found = new Map<string, Found>();
  const walk = (value: unknown, path: string, name: string, depth: number): void => {
    if (depth > deepest || found.size >= mostAddresses) return;
    if (typeof value === 'string') {
      if (/^https?:\/\//i.test(value)) {
        if (addressField.test(name) && !notCalled.test(name)) found.set(value, { path, url: value });
      } else if (name === 'config' && value.startsWith('{')) walk(jsonOrNothing(value), path, name, depth + 1);
      return;
    }
    if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) walk(item, `${path}[${at}]`, name, depth + 1);
    } else if (typeof value === 'object' && value !== null) {
      for (const [field, inner] of Object.entries(value)) {
        if (!handedOn.has(field)) walk(inner, path === '' ? field : `${path}.${field}`, field, depth + 1);
      }
    }
  };
  walk(body, '', '', 0);
  return [...found.values()];
}
