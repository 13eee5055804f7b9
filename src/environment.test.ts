import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment } from './environment.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-environment-'));
  writeFileSync(join(folder, 'secret'), `${'s'.repeat(40)}\n`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a value that is the path of a file stands for what is in it', () => {
  expect(readEnvironment({ GW_MASTER_KEY: join(folder, 'secret') }).masterKey).toMatchObject({
    secret: 's'.repeat(40),
  });
});

test('a path of nothing, or of a folder, is a value like any other', () => {
  const missing = join(folder, 'a-file-that-is-not-there-at-all');
  expect(readEnvironment({ GW_MASTER_KEY: missing }).masterKey).toMatchObject({ secret: missing });
  expect(readEnvironment({ GW_MASTER_KEY: `${folder}${'/.'.repeat(20)}` }).masterKey).toMatchObject({
    secret: `${folder}${'/.'.repeat(20)}`,
  });
});

test.each(['300,000', '1.5', '-1', 'soon'])('a number that is %s is refused with the bounds', (value) => {
  expect(() => readEnvironment({ REQUEST_TIMEOUT: value })).toThrow(
    'REQUEST_TIMEOUT: must be a whole number from 1 to 86400000, in digits alone',
  );
});

test('a variable that names a path keeps it', () => {
  expect(readEnvironment({ GW_DATA_DIR: join(folder, 'secret') }).dataDir).toBe(join(folder, 'secret'));
});

test('hosts under which the gateway itself answers are known', () => {
  const { own } = readEnvironment({
    HOST: '0.0.0.0',
    PORT: '80',
    CONTROL_PLANE_URL: 'https://gw.example',
  }).trustedHosts;
  expect(own).toEqual(['gw.example', '0.0.0.0', 'localhost', '127.0.0.1', '[::1]']);
});

test('a bucket for the bodies of logs needs its keys', () => {
  expect(() => readEnvironment({ LOG_STORE_S3_BUCKET: 'logs', LOG_STORE_S3_ACCESS_KEY_ID: 'a' })).toThrow(
    'LOG_STORE_S3_BUCKET needs LOG_STORE_S3_SECRET_ACCESS_KEY',
  );
  const keys = { LOG_STORE_S3_ACCESS_KEY_ID: 'a', LOG_STORE_S3_SECRET_ACCESS_KEY: 'b' };
  const { objects } = readEnvironment({ LOG_STORE_S3_BUCKET: 'logs', ...keys, LOG_STORE_FILE_PATH_FORMAT: 'v2' }).logs;
  expect(objects).toMatchObject({ store: { bucket: 'logs', region: 'us-east-1' }, prefix: '', format: 'v2' });
  expect(readEnvironment(keys).logs.objects).toBeNull();
});

test.each([
  ['DATABASE_URL', 'postgres://u:canary@127.0.0.1:port/x'],
  ['REDIS_URL', 'redis://:canary@127.0.0.1:99999/0'],
  ['REDIS_URL', 'redis://:canary%zz@127.0.0.1/0'],
])('an address in %s that nobody can read is refused by its name, without what is in it', (name, value) => {
  const refused = () => readEnvironment({ [name]: value });
  expect(refused).toThrow(`${name}: must be an address such as`);
  expect(refused).not.toThrow('canary');
});

test('a database behind a socket in the file system has no host', () => {
  const url = 'postgres://u:p@/name?host=/run/postgresql';
  expect(readEnvironment({ DATABASE_URL: url }).store).toMatchObject({ url });
});
