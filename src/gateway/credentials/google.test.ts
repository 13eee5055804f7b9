import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { generateKeyPairSync, verify } from 'node:crypto';
import { json } from '../../../test/providers/simulated.ts';
import { startTokenServices, type TokenServices } from '../../../test/providers/token-services.ts';
import type { Authentication } from '../../providers/authentication.ts';

let services: TokenServices;
beforeEach(async () => {
  services = await startTokenServices();
});
afterEach(() => services.service.stop());

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const account = {
  type: 'service_account',
  project_id: 'proj-1',
  private_key_id: 'key-1',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  client_email: 'bot@proj-1.iam.gserviceaccount.com',
  token_uri: 'https://oauth2.googleapis.com/token',
};
const scope = 'https://www.googleapis.com/auth/cloud-platform';
const of = (file: object): Authentication => ({
  kind: 'google',
  scope,
  credentials: { from: 'service-account', json: JSON.stringify(file) },
});
const own: Authentication = { kind: 'google', scope, credentials: { from: 'gateway' } };
const request = {
  url: 'https://us-central1-aiplatform.googleapis.com/v1/projects/proj-1',
  method: 'POST',
  headers: {},
  body: null,
};
const { signal } = new AbortController();

const decoded = (part: string | undefined): Record<string, unknown> =>
  JSON.parse(Buffer.from(part ?? '', 'base64url').toString());

describe('a service account', () => {
  test('signs a statement that is exchanged for a token', async () => {
    expect(await services.credentials().authorise(of(account), request, signal)).toEqual({
      authorization: 'Bearer token-1',
    });
    expect(services.service.calls[0]).toMatchObject({ method: 'POST', path: '/token' });
    expect(services.asked[0]?.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const [header, statement, signature = ''] = services.asked[0]?.get('assertion')?.split('.') ?? [];
    expect(decoded(header)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-1' });
    const { iat, exp, ...claims } = decoded(statement);
    expect(claims).toEqual({ iss: account.client_email, scope, aud: account.token_uri });
    expect(Number(exp) - Number(iat)).toBe(3_600);
    const signed = Buffer.from(`${header}.${statement}`);
    expect(verify('sha256', signed, publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
  });

  test('is asked for once by many callers, and again shortly before its token ends', async () => {
    const credentials = services.credentials();
    const ask = () => credentials.authorise(of(account), request, signal);
    await Promise.all([ask(), ask(), ask()]);
    services.clock.advance({ minutes: 50 });
    expect(await ask()).toEqual({ authorization: 'Bearer token-1' });
    services.clock.advance({ minutes: 6 });
    expect(await ask()).toEqual({ authorization: 'Bearer token-2' });
    expect(services.asked).toHaveLength(2);
  });

  test('never lends its token to another one', async () => {
    const credentials = services.credentials();
    await credentials.authorise(of(account), request, signal);
    const other = of({ ...account, client_email: 'other@proj-2.iam.gserviceaccount.com' });
    expect(await credentials.authorise(other, request, signal)).toEqual({ authorization: 'Bearer token-2' });
  });

  test('gets a new token once the old one is forgotten', async () => {
    const credentials = services.credentials();
    await credentials.authorise(of(account), request, signal);
    credentials.forget(of(account));
    expect(await credentials.authorise(of(account), request, signal)).toEqual({ authorization: 'Bearer token-2' });
  });

  test('may have lost the line breaks of its key', async () => {
    const flat = { ...account, private_key: account.private_key.replaceAll('\n', '\\n') };
    expect(await services.credentials().authorise(of(flat), request, signal)).toEqual({
      authorization: 'Bearer token-1',
    });
  });

  test.each([
    ['without a key', { ...account, private_key: undefined }, 'must hold client_email and private_key'],
    ['with a broken key', { ...account, private_key: 'x' }, 'no key in PEM'],
    [
      'of somebody else’s token service',
      { ...account, token_uri: 'http://169.254.169.254/token' },
      'not one of Google',
    ],
  ])('%s is refused before anybody is asked', async (_, file, words) => {
    const refused = services.credentials().authorise(of(file), request, signal);
    const fault = await refused.catch((error: Error) => error);
    expect(fault).toMatchObject({ status: 400, message: expect.stringContaining(words) });
    expect(services.service.calls).toEqual([]);
  });

  test('that Google does not know is refused in its words, and asked anew by the next call', async () => {
    const credentials = services.credentials();
    services.service.script(json(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }));
    const fault = await credentials.authorise(of(account), request, signal).catch((error: Error) => error);
    expect(fault).toMatchObject({ status: 401, message: expect.stringContaining('Invalid JWT Signature.') });
    services.service.script(json(200, { access_token: 'fresh', expires_in: 3_599 }));
    expect(await credentials.authorise(of(account), request, signal)).toEqual({ authorization: 'Bearer fresh' });
  });
});

describe('the gateway’s own identity', () => {
  test('comes from the metadata server where the operator says so', async () => {
    const credentials = services.credentials({ GCP_AUTH_MODE: 'workload' });
    expect(await credentials.authorise(own, request, signal)).toEqual({ authorization: 'Bearer token-1' });
    const [call] = services.service.calls;
    expect(call?.path).toBe('/computeMetadata/v1/instance/service-accounts/default/token');
    expect(call?.headers['metadata-flavor']).toBe('Google');
  });

  test('is federated from the platform’s own token', async () => {
    const env = { GCP_WIF_AUDIENCE: '//iam.googleapis.com/pool', GCP_WIF_TOKEN_FILE: '/token' };
    const credentials = services.credentials(env, { '/token': 'platform-jwt\n' });
    expect(await credentials.authorise(own, request, signal)).toEqual({ authorization: 'Bearer token-1' });
    expect(services.service.calls[0]?.path).toBe('/v1/token');
    expect(Object.fromEntries(services.asked[0] ?? [])).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      audience: '//iam.googleapis.com/pool',
      scope,
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      subject_token: 'platform-jwt',
    });
  });

  test('borrows the token of a service account where one is named', async () => {
    const env = {
      GCP_WIF_AUDIENCE: '//iam.googleapis.com/pool',
      GCP_WIF_TOKEN_FILE: '/token',
      GCP_WIF_SERVICE_ACCOUNT_EMAIL: 'bot@proj-1.iam.gserviceaccount.com',
    };
    services.service.script(
      json(200, { access_token: 'federated', expires_in: 3_599 }),
      json(200, { accessToken: 'borrowed', expireTime: '2099-01-01T00:00:00Z' }),
    );
    const credentials = services.credentials(env, { '/token': 'platform-jwt' });
    expect(await credentials.authorise(own, request, signal)).toEqual({ authorization: 'Bearer borrowed' });
    const borrowed = services.service.calls[1];
    expect(borrowed?.path).toBe(
      '/v1/projects/-/serviceAccounts/bot%40proj-1.iam.gserviceaccount.com:generateAccessToken',
    );
    expect([borrowed?.headers.authorization, borrowed?.json]).toEqual(['Bearer federated', { scope: [scope] }]);
  });

  test('is not there unless the operator gave one', async () => {
    const fault = await services
      .credentials()
      .authorise(own, request, signal)
      .catch((error: Error) => error);
    expect(fault).toMatchObject({ status: 400, message: expect.stringContaining('GCP_AUTH_MODE=workload') });
  });

  test('is never shown to a host that a customer chose', async () => {
    const credentials = services.credentials({ GCP_AUTH_MODE: 'workload', TRUSTED_CUSTOM_HOSTS: 'proxy.test' });
    for (const url of ['https://evil.test/v1', 'http://us-central1-aiplatform.googleapis.com/v1']) {
      const fault = await credentials.authorise(own, { ...request, url }, signal).catch((error: Error) => error);
      expect(fault).toMatchObject({ message: expect.stringContaining('own identity is not shown') });
    }
    expect(services.service.calls).toEqual([]);
    const trusted = { ...request, url: 'https://proxy.test/v1' };
    expect(await credentials.authorise(own, trusted, signal)).toEqual({ authorization: 'Bearer token-1' });
  });
});
