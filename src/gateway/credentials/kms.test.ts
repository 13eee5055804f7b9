/** The master key from AWS KMS: the simulator is first held against AWS's own SDK, then we against the simulator. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { DecryptCommand, KMSClient } from '@aws-sdk/client-kms';
import { bytes, type SimulatedProvider, startProvider } from '../../../test/providers/simulated.ts';
import { kms } from '../../../test/secret-managers/kms.ts';
import { decryptedByKms } from './kms.ts';

const region = 'eu-central-1';
const keys = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI' };
const key = randomBytes(32);
const ciphertext = Buffer.from('encrypted data key').toString('base64');
const behaviour = kms({ keys, region, plaintexts: new Map([[ciphertext, key]]) });

let server: SimulatedProvider;
let endpoint: string;
beforeAll(async () => {
  server = await startProvider(behaviour);
  endpoint = server.url.replace('/v1', '/');
});
afterAll(() => server.stop());

const decrypt = (text = ciphertext, env: Record<string, string> = {}) =>
  decryptedByKms(
    { ciphertext: text, region },
    {
      fetch,
      now: () => new Date(),
      readFile: () => Promise.reject(new Error('no file')),
      env: {
        TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
        AWS_ENDPOINT_URL_KMS: endpoint,
        AWS_EC2_METADATA_DISABLED: 'true',
        AWS_ACCESS_KEY_ID: keys.accessKeyId,
        AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
        ...env,
      },
    },
  ).catch((fault) => fault.message);

test('the simulator serves the SDK of AWS, and refuses it as AWS does', async () => {
  const client = new KMSClient({ region, endpoint, credentials: keys, maxAttempts: 1 });
  const { Plaintext } = await client.send(new DecryptCommand({ CiphertextBlob: Buffer.from('encrypted data key') }));
  expect(Buffer.from(Plaintext ?? []).equals(key)).toBe(true);
  const other = client.send(new DecryptCommand({ CiphertextBlob: Buffer.from('something else') }));
  expect(await other.catch((fault) => fault.name)).toBe('InvalidCiphertextException');
  client.destroy();
});

test('the key is decrypted as the gateway itself', async () => {
  expect(key.equals(await decrypt())).toBe(true);
});

test('what cannot be decrypted, a stranger, silence and nonsense are told in one line', async () => {
  expect(await decrypt(Buffer.from('other').toString('base64'))).toBe(
    'AWS KMS does not decrypt the master key (status 400, InvalidCiphertextException).',
  );
  expect(await decrypt(ciphertext, { AWS_ACCESS_KEY_ID: 'AKIASTRANGER' })).toContain('UnrecognizedClientException');
  expect(await decrypt(ciphertext, { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' })).toContain(
    'AWS KMS cannot be asked for the master key',
  );
  expect(await decrypt(ciphertext, { AWS_ENDPOINT_URL_KMS: 'http://127.0.0.1:1/' })).toBe(
    'AWS KMS cannot be reached for the master key.',
  );
  server.script(bytes(200, '<html>', {}));
  expect(await decrypt()).toBe('AWS KMS does not decrypt the master key (status 200).');
  server.script(behaviour);
});
