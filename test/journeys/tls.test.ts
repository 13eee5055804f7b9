/** The listener speaks TLS by itself when it is given a certificate. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment } from '../../src/environment.ts';
import { startGateway } from '../harness.ts';
import { selfSigned } from '../servers/self-signed.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-tls-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.if(Bun.which('openssl') !== null)('with a key and a certificate', () => {
  test('calls are answered over TLS, and over nothing else', async () => {
    const { key, cert } = selfSigned();
    const gateway = await startGateway({
      TLS_KEY_PATH: written('key.pem', key),
      TLS_CERT_PATH: written('cert.pem', cert),
    });
    expect(gateway.url).toStartWith('https://');
    const health = await fetch(`${gateway.url}/v1/health`, { tls: { rejectUnauthorized: false } });
    expect(health.status).toBe(200);
    await expect(fetch(gateway.url.replace('https', 'http'))).rejects.toThrow();
    await gateway.stop();
  });

  test.each([
    ['TLS_KEY_PATH', 'the key of another certificate', () => ({ TLS_KEY_PATH: selfSigned().key })],
    ['TLS_CERT_PATH', 'a key instead of a certificate', ({ key }: Pair) => ({ TLS_CERT_PATH: key })],
    ['TLS_CA_PATH', 'a key instead of certificates', ({ key }: Pair) => ({ TLS_CA_PATH: key })],
  ])('%s with %s is a fault of the environment', (name, _, wrong) => {
    const pair = selfSigned();
    const texts = { TLS_KEY_PATH: pair.key, TLS_CERT_PATH: pair.cert, ...wrong(pair) };
    const env = Object.fromEntries(
      Object.entries(texts).map(([variable, text]) => [variable, written(variable, text)]),
    );
    expect(() => readEnvironment(env)).toThrow(`Wrong environment: ${name}: `);
  });
});

type Pair = ReturnType<typeof selfSigned>;

function written(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test('certificates between others are a fault without ours', () => {
  expect(() => readEnvironment({ TLS_CA_PATH: 'ca.pem' })).toThrow('TLS_CA_PATH');
});

test('one of the two alone is a fault of the environment', () => {
  expect(() => readEnvironment({ TLS_KEY_PATH: 'key.pem' })).toThrow('TLS_KEY_PATH and TLS_CERT_PATH belong together');
});
