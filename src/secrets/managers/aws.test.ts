/** AWS Secrets Manager: the simulator is first held against AWS's own SDK, then we against the simulator. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { tokenService } from '../../../test/providers/aws-identity.ts';
import { bytes, json, type SimulatedProvider, startProvider } from '../../../test/providers/simulated.ts';
import { awsSecrets } from '../../../test/secret-managers/aws.ts';
import { openLab, secretValue, sourceOf, useOf } from '../../../test/secret-managers/open.ts';

const region = 'eu-central-1';
const keys = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG' };
const roleKeys = { accessKeyId: 'ASIAROLE', secretAccessKey: 'role-secret', sessionToken: 'role-session' };
const secrets = new Map<string, { text: string } | { binary: Buffer }>();
const manager = awsSecrets({ keys, region, secrets });

let server: SimulatedProvider;
let endpoint: string;
beforeAll(async () => {
  server = await startProvider(manager);
  endpoint = server.url.replace('/v1', '/');
});
afterAll(() => server.stop());
beforeEach(() => {
  server.script(manager);
  secrets.clear();
  secrets.set('prod/openai', { text: 'sk-from-aws' });
  secrets.set('prod/both', { text: '{"openai":"sk-1","limits":{"rpm":5}}' });
  secrets.set('prod/binary', { binary: Buffer.from('sk-binary') });
});

const env = () => ({ AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoint, AWS_EC2_METADATA_DISABLED: 'true' });
const accessKey = {
  aws_auth_type: 'accessKey',
  aws_access_key_id: keys.accessKeyId,
  aws_secret_access_key: keys.secretAccessKey,
  aws_region: region,
};

test('the simulator serves the SDK of AWS, and refuses it as AWS does', async () => {
  const client = new SecretsManagerClient({ region, endpoint, credentials: keys, maxAttempts: 1 });
  const read = (SecretId: string) => client.send(new GetSecretValueCommand({ SecretId }));
  expect((await read('prod/openai')).SecretString).toBe('sk-from-aws');
  expect(Buffer.from((await read('prod/binary')).SecretBinary ?? []).toString()).toBe('sk-binary');
  expect((await read('prod/openai')).CreatedDate).toBeInstanceOf(Date);
  const missing = await read('absent').catch((fault) => fault.name);
  expect(missing).toBe('ResourceNotFoundException');
  const stranger = { accessKeyId: 'AKIASTRANGER', secretAccessKey: 'x' };
  const other = new SecretsManagerClient({ region, endpoint, credentials: stranger, maxAttempts: 1 });
  const refused = await other.send(new GetSecretValueCommand({ SecretId: 'a' })).catch((fault) => fault.name);
  expect(refused).toBe('UnrecognizedClientException');
  client.destroy();
  other.destroy();
});

test('text, a field of text, JSON and binary secrets are read with access keys', async () => {
  const lab = openLab(env());
  const both = sourceOf('aws_sm', accessKey, 'prod/both');
  expect(await secretValue(lab, [useOf(sourceOf('aws_sm', accessKey, 'prod/openai'))])).toBe('sk-from-aws');
  expect(await secretValue(lab, [useOf(sourceOf('aws_sm', accessKey, 'prod/binary'))])).toBe('sk-binary');
  expect(await secretValue(lab, [useOf(both, { secretKey: 'openai' })])).toBe('sk-1');
  expect(await secretValue(lab, [useOf(both, { secretKey: 'limits', format: 'json' })])).toEqual({ rpm: 5 });
  expect(await secretValue(lab, [useOf(both, { secretKey: 'limits' })])).toBe('{"rpm":5}');
  expect(await secretValue(lab, [useOf(both, { format: 'json' })])).toEqual({ openai: 'sk-1', limits: { rpm: 5 } });
});

test('a role is assumed with the gateway’s own keys and its external id', async () => {
  const sts = await startProvider(
    tokenService({
      caller: keys,
      externalId: 'ext-1',
      region,
      issued: () => ({ keys: roleKeys, expiration: new Date(Date.now() + 3_600_000).toISOString() }),
    }),
  );
  server.script(awsSecrets({ keys: roleKeys, region, secrets }));
  const own = { AWS_ACCESS_KEY_ID: keys.accessKeyId, AWS_SECRET_ACCESS_KEY: keys.secretAccessKey };
  const lab = openLab({ ...env(), ...own, AWS_ENDPOINT_URL_STS: sts.url });
  const role = { aws_auth_type: 'assumedRole', aws_role_arn: 'arn:aws:iam::123456789012:role/r', aws_region: region };
  const source = sourceOf('aws_sm', { ...role, aws_external_id: 'ext-1' }, 'prod/openai');
  expect(await secretValue(lab, [useOf(source)])).toBe('sk-from-aws');
  const other = sourceOf('aws_sm', { ...role, aws_external_id: 'ext-2' }, 'prod/openai');
  expect(await secretValue(lab, [useOf(other)])).toBe(
    `failed: the secret reference ${other.slug} gives no value: the cloud gives no token for these credentials (status 403)`,
  );
  await sts.stop();
});

test('the gateway’s own role reads secrets, unless the operator lends it to nobody', async () => {
  const own = { AWS_ACCESS_KEY_ID: keys.accessKeyId, AWS_SECRET_ACCESS_KEY: keys.secretAccessKey };
  const source = sourceOf('aws_sm', { aws_auth_type: 'serviceRole', aws_region: region }, 'prod/openai');
  expect(await secretValue(openLab({ ...env(), ...own }), [useOf(source)])).toBe('sk-from-aws');
  expect(await secretValue(openLab({ ...env(), ...own, GW_CLOUD_IDENTITY: 'off' }), [useOf(source)])).toEndWith(
    'the gateway lends its own cloud identity to nobody here (GW_CLOUD_IDENTITY)',
  );
});

test.each([
  ['a secret that is not there', 'absent', accessKey, 'with the status 400, ResourceNotFoundException'],
  [
    'keys that AWS does not know',
    'prod/openai',
    { ...accessKey, aws_access_key_id: 'AKIASTRANGER' },
    'UnrecognizedClientException',
  ],
])('%s is told by its code', async (_, path, auth, words) => {
  expect(await secretValue(openLab(env()), [useOf(sourceOf('aws_sm', auth, path))])).toEndWith(words);
});

test.each([
  ['text that is no JSON', bytes(200, '<html>sk-leaked</html>', {})],
  ['JSON of something else', json(200, { hello: 'sk-leaked' })],
  ['a wrong type', json(200, { SecretString: { a: 'sk-leaked' } })],
  ['a redirect', bytes(302, 'sk-leaked', { location: 'http://127.0.0.1:1/' })],
  ['a code that carries more than a word', json(400, { __type: 'sk-leaked-1234' })],
])('an answer that is %s gives no value and none of its words', async (_, behaviour) => {
  server.script(behaviour);
  const lab = openLab(env());
  const told = await secretValue(lab, [useOf(sourceOf('aws_sm', accessKey, 'prod/openai'))]);
  expect(told).toStartWith('failed: the secret reference');
  expect([String(told), ...lab.logged].join()).not.toContain('sk-leaked');
});

test('a field that the secret does not have is named, and nothing of the secret is', async () => {
  const source = sourceOf('aws_sm', accessKey, 'prod/both', 'anthropic');
  const told = String(await secretValue(openLab(env()), [useOf(source)]));
  expect(told).toEndWith('the secret has no field "anthropic"');
  expect(told).not.toContain('sk-1');
});
