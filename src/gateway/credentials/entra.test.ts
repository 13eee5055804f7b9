import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { json } from '../../../test/providers/simulated.ts';
import { startTokenServices, type TokenServices } from '../../../test/providers/token-services.ts';
import type { Authentication, EntraCredentials } from '../../providers/authentication.ts';

let services: TokenServices;
beforeEach(async () => {
  services = await startTokenServices();
});
afterEach(() => services.service.stop());

const scope = 'https://cognitiveservices.azure.com/.default';
const request = { url: 'https://res.openai.azure.com/openai/models', method: 'GET', headers: {}, body: null };
const { signal } = new AbortController();

const as = (credentials: EntraCredentials, asked = scope): Authentication => ({
  kind: 'entra',
  credentials,
  scope: asked,
});
const client: EntraCredentials = { from: 'client', tenantId: 'tenant/1', clientId: 'app', clientSecret: 's3cret' };
const managed: EntraCredentials = { from: 'managed', clientId: null };
const workload: EntraCredentials = { from: 'workload', tenantId: null, clientId: null };

describe('an application', () => {
  test('gets a token for its secret and its scope', async () => {
    const headers = await services.credentials().authorise(as(client), request, signal);
    expect(headers).toEqual({ authorization: 'Bearer token-1' });
    expect(services.service.calls[0]).toMatchObject({ method: 'POST', path: '/tenant%2F1/oauth2/v2.0/token' });
    expect(Object.fromEntries(services.asked[0] ?? [])).toEqual({
      grant_type: 'client_credentials',
      client_id: 'app',
      client_secret: 's3cret',
      scope,
    });
  });

  test('asks once for calls at the same time, and again shortly before the token ends', async () => {
    const credentials = services.credentials();
    const ask = () => credentials.authorise(as(client), request, signal);
    await Promise.all([ask(), ask(), ask()]);
    services.clock.advance({ minutes: 54 });
    expect(await ask()).toEqual({ authorization: 'Bearer token-1' });
    services.clock.advance({ minutes: 2 });
    expect(await ask()).toEqual({ authorization: 'Bearer token-2' });
  });

  test('never gets the token of another secret, tenant or scope', async () => {
    const credentials = services.credentials();
    await credentials.authorise(as(client), request, signal);
    for (const other of [
      as({ ...client, clientSecret: 'x' }),
      as({ ...client, tenantId: 't2' }),
      as(client, 'https://ai.azure.com/.default'),
    ]) {
      await credentials.authorise(other, request, signal);
    }
    expect(services.asked).toHaveLength(4);
  });

  test('asks anew for a token that was refused', async () => {
    const credentials = services.credentials();
    await credentials.authorise(as(client), request, signal);
    credentials.forget(as(client));
    expect(await credentials.authorise(as(client), request, signal)).toEqual({ authorization: 'Bearer token-2' });
  });

  test("that is refused is told so in the service's words, without its secret", async () => {
    const words = 'AADSTS7000215: Invalid client secret provided.';
    services.service.script(json(401, { error: 'invalid_client', error_description: `${words}\r\nTrace ID: 1` }));
    const refused = services.credentials().authorise(as(client), request, signal);
    await expect(refused).rejects.toMatchObject({ code: 'upstream_refused', status: 401 });
    await expect(refused).rejects.toThrow(`Entra gave no token: ${words}`);
    await refused.catch((fault) => expect(fault.message).not.toContain('s3cret'));
  });

  test('asks the authority of its own cloud', async () => {
    const authority = services.service.url.replace(/\/v1$/, '/authority/');
    await services.credentials({ AZURE_AUTHORITY_HOST: authority }).authorise(as(client), request, signal);
    expect(services.service.calls[0]?.path).toBe('/authority/tenant%2F1/oauth2/v2.0/token');
  });
});

describe('a managed identity', () => {
  test('asks the machine for the resource behind the scope', async () => {
    await services.credentials().authorise(as({ from: 'managed', clientId: 'id-2' }), request, signal);
    const [call] = services.service.calls;
    expect(call?.headers.metadata).toBe('true');
    expect(call?.path).toBe(
      '/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fcognitiveservices.azure.com&client_id=id-2',
    );
  });

  test('asks the service that App Service names, and reads the moment at which the token ends', async () => {
    await services.service.stop();
    services = await startTokenServices((count) => ({
      access_token: `token-${count}`,
      expires_on: String(Math.floor(services.clock.now().getTime() / 1000) + 3600),
    }));
    const credentials = services.credentials({
      IDENTITY_ENDPOINT: `${services.service.url}/msi`,
      IDENTITY_HEADER: 'h',
    });
    await credentials.authorise(as(managed), request, signal);
    services.clock.advance({ minutes: 50 });
    expect(await credentials.authorise(as(managed), request, signal)).toEqual({ authorization: 'Bearer token-1' });
    expect(services.service.calls[0]).toMatchObject({ headers: { 'x-identity-header': 'h' } });
    expect(services.asked[0]?.get('api-version')).toBe('2019-08-01');
  });

  test('is shown to nobody but Azure and the hosts that the operator trusts', async () => {
    const elsewhere = { ...request, url: 'https://collector.example.com/openai/models' };
    for (const credentials of [managed, workload]) {
      const refused = services.credentials().authorise(as(credentials), elsewhere, signal);
      await expect(refused).rejects.toMatchObject({ code: 'invalid_custom_host' });
    }
    expect(services.asked).toHaveLength(0);
    const trusting = services.credentials({ TRUSTED_CUSTOM_HOSTS: 'other.test, collector.example.com' });
    expect(await trusting.authorise(as(managed), elsewhere, signal)).toEqual({ authorization: 'Bearer token-1' });
  });
});

describe('a workload', () => {
  const env = { AZURE_TENANT_ID: 'env-tenant', AZURE_CLIENT_ID: 'env-client', AZURE_FEDERATED_TOKEN_FILE: '/token' };

  test('exchanges the token that its platform wrote', async () => {
    await services.credentials(env, { '/token': 'platform-jwt\n' }).authorise(as(workload), request, signal);
    expect(services.service.calls[0]?.path).toBe('/env-tenant/oauth2/v2.0/token');
    expect(Object.fromEntries(services.asked[0] ?? [])).toEqual({
      grant_type: 'client_credentials',
      client_id: 'env-client',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: 'platform-jwt',
      scope,
    });
  });

  test('may be another client of another tenant', async () => {
    const other: EntraCredentials = { from: 'workload', tenantId: 't', clientId: 'c' };
    await services.credentials(env, { '/token': 'jwt' }).authorise(as(other), request, signal);
    expect(services.service.calls[0]?.path).toBe('/t/oauth2/v2.0/token');
    expect(services.asked[0]?.get('client_id')).toBe('c');
  });

  test('is refused where the platform gives none', async () => {
    const refused = services.credentials().authorise(as(workload), request, signal);
    await expect(refused).rejects.toThrow('AZURE_TENANT_ID is not set');
    const unreadable = services.credentials(env).authorise(as(workload), request, signal);
    await expect(unreadable).rejects.toThrow('AZURE_FEDERATED_TOKEN_FILE');
  });
});
