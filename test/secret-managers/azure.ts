/** Azure Key Vault on loopback: the challenge, bearer tokens, secrets with their versions, errors in its words. */
import { type Behaviour, bytes, json, type ReceivedCall } from '../providers/simulated.ts';

interface KeyVault {
  /** Tokens that count. */
  tokens: Set<string>;
  /** The newest version last. */
  secrets: Map<string, { version: string; value: string }[]>;
}

const refuse = (status: number, code: string, message: string): Behaviour => json(status, { error: { code, message } });

export const keyVault =
  (state: KeyVault): Behaviour =>
  (call, response) =>
    answer(call, state)(call, response);

function answer(call: ReceivedCall, { tokens, secrets }: KeyVault): Behaviour {
  const url = new URL(call.path, 'http://vault');
  const token = /^Bearer (.+)$/.exec(call.headers.authorization ?? '')?.[1];
  if (token === undefined || !tokens.has(token)) {
    const challenge =
      'Bearer authorization="https://login.microsoftonline.com/tenant-1", resource="https://vault.azure.net"';
    const body = { error: { code: 'Unauthorized', message: 'AKV10000: Request is missing a Bearer or PoP token.' } };
    return bytes(401, JSON.stringify(body), { 'content-type': 'application/json', 'www-authenticate': challenge });
  }
  if (!url.searchParams.get('api-version')) return refuse(400, 'BadParameter', 'api-version must be specified');
  const [, name = '', version = ''] = /^\/secrets\/([^/]+)(?:\/([^/]*))?$/.exec(url.pathname) ?? [];
  if (call.method !== 'GET' || name === '') return refuse(405, 'MethodNotAllowed', 'no such operation');
  const versions = secrets.get(name) ?? [];
  const found = version === '' ? versions.at(-1) : versions.find((one) => one.version === version);
  if (!found) return refuse(404, 'SecretNotFound', `A secret with (name/id) ${name} was not found in this key vault.`);
  return json(200, {
    value: found.value,
    id: `https://myvault.vault.azure.net/secrets/${name}/${found.version}`,
    attributes: {
      enabled: true,
      created: 1_700_000_000,
      updated: 1_700_000_000,
      recoveryLevel: 'Recoverable+Purgeable',
    },
    tags: {},
  });
}
