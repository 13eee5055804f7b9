/** Google Secret Manager: the simulator is first held against Google's own SDK, then we against the simulator. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import { SecretManagerServiceClient } from '@google-cloud/secret-manager';
import { OAuth2Client } from 'google-auth-library';
import { json, type SimulatedProvider, startProvider } from '../../../test/providers/simulated.ts';
import { googleSecrets } from '../../../test/secret-managers/google.ts';
import { openLab, secretValue, sourceOf, useOf } from '../../../test/secret-managers/open.ts';

const state = { tokens: new Set(['token-1']), secrets: new Map([['openai', ['sk-one', 'sk-two']]]) };
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const account = JSON.stringify({
  type: 'service_account',
  project_id: 'project-1',
  private_key_id: 'key-1',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  client_email: 'gw@project-1.iam.gserviceaccount.com',
  token_uri: 'https://oauth2.googleapis.com/token',
});

let server: SimulatedProvider;
let tokens: SimulatedProvider;
let endpoint: string;
beforeAll(async () => {
  server = await startProvider(googleSecrets('project-1', state));
  tokens = await startProvider(json(200, { token_type: 'Bearer', expires_in: 3599, access_token: 'token-1' }));
  endpoint = server.url.replace('/v1', '');
});
afterAll(async () => {
  await server.stop();
  await tokens.stop();
});
beforeEach(() => server.script(googleSecrets('project-1', state)));

test('the simulator serves the SDK of Google over REST, and refuses it as Google does', async () => {
  const { hostname, port } = new URL(endpoint);
  const open = (access_token: string) => {
    const authClient = new OAuth2Client();
    authClient.setCredentials({ access_token, expiry_date: Date.now() + 3_600_000 });
    return new SecretManagerServiceClient({
      fallback: true,
      apiEndpoint: hostname,
      port: Number(port),
      protocol: 'http',
      authClient: authClient as never,
      projectId: 'project-1',
    });
  };
  const client = open('token-1');
  const [newest] = await client.accessSecretVersion({ name: 'projects/project-1/secrets/openai/versions/latest' });
  expect(Buffer.from(newest.payload?.data ?? '').toString()).toBe('sk-two');
  const [first] = await client.accessSecretVersion({ name: 'projects/project-1/secrets/openai/versions/1' });
  expect(Buffer.from(first.payload?.data ?? '').toString()).toBe('sk-one');
  const absent = client.accessSecretVersion({ name: 'projects/project-1/secrets/none/versions/latest' });
  expect(await absent.catch((fault) => fault.code)).toBe(404);
  const foreign = client.accessSecretVersion({ name: 'projects/other/secrets/openai/versions/latest' });
  expect(await foreign.catch((fault) => fault.code)).toBe(403);
  await client.close();
});

const env = () => ({ GCP_SECRET_MANAGER_ENDPOINT: endpoint });
const byAccount = { gcp_auth_type: 'serviceAccount', gcp_service_account_json: account };

test('a service account reads a secret by its name, by its whole name, and by its version', async () => {
  const lab = openLab(env(), tokens);
  const read = (path: string) => secretValue(lab, [useOf(sourceOf('gcp_sm', byAccount, path))]);
  expect(await read('openai')).toBe('sk-two');
  expect(await read('openai/versions/1')).toBe('sk-one');
  expect(await read('projects/project-1/secrets/openai')).toBe('sk-two');
  expect(new URLSearchParams(tokens.calls.at(-1)?.body.toString()).get('grant_type')).toBe(
    'urn:ietf:params:oauth:grant-type:jwt-bearer',
  );
});

test('the gateway’s own identity reads a secret of the project that the reference names', async () => {
  const lab = openLab({ ...env(), GCP_AUTH_MODE: 'workload', GCE_METADATA_HOST: 'metadata' }, tokens);
  const own = { gcp_auth_type: 'workload', gcp_project_id: 'project-1' };
  expect(await secretValue(lab, [useOf(sourceOf('gcp_sm', own, 'openai'))])).toBe('sk-two');
  expect(await secretValue(lab, [useOf(sourceOf('gcp_sm', { gcp_auth_type: 'workload' }, 'openai'))])).toContain(
    'gcp_project_id is missing',
  );
});

test('a missing secret, another project and nonsense are refused in our own words', async () => {
  const lab = openLab(env(), tokens);
  const read = (path: string) => secretValue(lab, [useOf(sourceOf('gcp_sm', byAccount, path))]);
  expect(await read('absent')).toEndWith('the status 404, NOTFOUND');
  expect(await read('projects/other/secrets/openai')).toEndWith('the status 403, PERMISSIONDENIED');
  server.script(json(200, { payload: { data: '%%%' } }));
  expect(await read('openai')).toEndWith('something else than a secret');
});
