/** A service account of Google Cloud: a statement signed with its key is exchanged for a token. */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { objectOf, parsed, textOf } from '../../providers/json.ts';
import { GatewayError } from '../errors.ts';
import type { CredentialDeps } from './authorise.ts';
import type { Token } from './token-cache.ts';
import { askToken } from './token-service.ts';

/** Written by the customer into the account's file; only Google's own services are asked. */
const tokenServices = new Set([
  'https://oauth2.googleapis.com/token',
  'https://accounts.google.com/o/oauth2/token',
  'https://www.googleapis.com/oauth2/v4/token',
]);
const defaultService = 'https://oauth2.googleapis.com/token';
const lifeSeconds = 3_600;

export function askForServiceAccount(json: string, scope: string, around: CredentialDeps): Promise<Token<string>> {
  const account = objectOf(parsed(json));
  const email = textOf(account.client_email);
  const key = textOf(account.private_key);
  if (!email || !key) throw unusable('it must hold client_email and private_key');
  const service = textOf(account.token_uri) ?? defaultService;
  if (!tokenServices.has(service)) throw unusable('its token_uri is not one of Google');
  const issuedAt = Math.floor(around.now().getTime() / 1000);
  const statement = { iss: email, scope, aud: service, iat: issuedAt, exp: issuedAt + lifeSeconds };
  return askToken(around, 'Google', service, {
    method: 'POST',
    form: {
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: signed(statement, textOf(account.private_key_id), privateKey(key)),
    },
  });
}

function signed(statement: object, keyId: string | null, key: KeyObject): string {
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId !== null && { kid: keyId }) };
  const content = `${encoded(header)}.${encoded(statement)}`;
  return `${content}.${sign('sha256', Buffer.from(content), key).toString('base64url')}`;
}

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/** Copies of the file through forms and headers often lose their line breaks. */
function privateKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem.replaceAll('\\n', '\n'));
  } catch {
    throw unusable('its private_key is no key in PEM');
  }
}

const unusable = (reason: string): GatewayError =>
  new GatewayError('missing_credential', `vertex_service_account_json cannot be used: ${reason}`);
