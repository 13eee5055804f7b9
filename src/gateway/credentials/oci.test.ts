import { describe, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import { createCredentials } from './credentials.ts';

/** The key, the requests and the signatures that Oracle publishes for those who write signers. */
const published = {
  kind: 'oci',
  tenancy: 'ocid1.tenancy.oc1..aaaaaaaaba3pv6wkcr4jqae5f15p2b2m2yt2j6rx32uzr4h25vqstifsfdsq',
  user: 'ocid1.user.oc1..aaaaaaaat5nvwcna5j6aqzjcaty5eqbb6qt2jvpkanghtgdaqedqw3rynjq',
  fingerprint: '20:3b:97:13:55:1c:5b:0d:d3:37:d8:50:4e:c5:3a:34',
  passphrase: null,
  privateKey: `-----BEGIN RSA PRIVATE KEY-----
MIICXgIBAAKBgQDCFENGw33yGihy92pDjZQhl0C36rPJj+CvfSC8+q28hxA161QF
NUd13wuCTUcq0Qd2qsBe/2hFyc2DCJJg0h1L78+6Z4UMR7EOcpfdUE9Hf3m/hs+F
UR45uBJeDK1HSFHD8bHKD6kv8FPGfJTotc+2xjJwoYi+1hqp1fIekaxsyQIDAQAB
AoGBAJR8ZkCUvx5kzv+utdl7T5MnordT1TvoXXJGXK7ZZ+UuvMNUCdN2QPc4sBiA
QWvLw1cSKt5DsKZ8UETpYPy8pPYnnDEz2dDYiaew9+xEpubyeW2oH4Zx71wqBtOK
kqwrXa/pzdpiucRRjk6vE6YY7EBBs/g7uanVpGibOVAEsqH1AkEA7DkjVH28WDUg
f1nqvfn2Kj6CT7nIcE3jGJsZZ7zlZmBmHFDONMLUrXR/Zm3pR5m0tCmBqa5RK95u
412jt1dPIwJBANJT3v8pnkth48bQo/fKel6uEYyboRtA5/uHuHkZ6FQF7OUkGogc
mSJluOdc5t6hI1VsLn0QZEjQZMEOWr+wKSMCQQCC4kXJEsHAve77oP6HtG/IiEn7
kpyUXRNvFsDE0czpJJBvL/aRFUJxuRK91jhjC68sA7NsKMGg5OXb5I5Jj36xAkEA
gIT7aFOYBFwGgQAQkWNKLvySgKbAZRTeLBacpHMuQdl1DfdntvAyqpAZ0lY0RKmW
G6aFKaqQfOXKCyWoUiVknQJAXrlgySFci/2ueKlIE1QqIiLSZ8V8OlpFLRnb1pzI
7U1yQXnTAEFYM560yJlzUpOb1V4cScGd365tiSMvxLOvTA==
-----END RSA PRIVATE KEY-----`,
} as const;

const keyId = `${published.tenancy}/${published.user}/${published.fingerprint}`;

/** The published date names a weekday that it did not fall on, so no clock can tell it. */
class PublishedDate extends Date {
  override toUTCString(): string {
    return 'Thu, 05 Jan 2014 21:31:40 GMT';
  }
}

const credentials = createCredentials({
  fetch,
  now: () => new PublishedDate(),
  env: {},
  readFile: (path) => Bun.file(path).text(),
});
const { signal } = new AbortController();

describe('the published signatures', () => {
  test('of a request without a body', async () => {
    const url =
      'https://iaas.us-phoenix-1.oraclecloud.com/20160918/instances?availabilityDomain=Pjwf%3A%20PHX-AD-1&compartmentId=ocid1.compartment.oc1..aaaaaaaam3we6vgnherjq5q2idnccdflvjsnog7mlr6rtdb25gilchfeyjxa&displayName=TeamXInstances&volumeId=ocid1.volume.oc1.phx.abyhqljrgvttnlx73nmrwfaux7kcvzfs3s66izvxf2h4lgvyndsdsnoiwr5q';
    const headers = await credentials.authorise(published, { url, method: 'GET', headers: {}, body: null }, signal);
    expect(headers).toEqual({
      date: 'Thu, 05 Jan 2014 21:31:40 GMT',
      authorization: `Signature version="1",keyId="${keyId}",algorithm="rsa-sha256",headers="date (request-target) host",signature="GBas7grhyrhSKHP6AVIj/h5/Vp8bd/peM79H9Wv8kjoaCivujVXlpbKLjMPeDUhxkFIWtTtLBj3sUzaFj34XE6YZAHc9r2DmE4pMwOAy/kiITcZxa1oHPOeRheC0jP2dqbTll8fmTZVwKZOKHYPtrLJIJQHJjNvxFWeHQjMaR7M="`,
    });
  });

  test('of a request with a body', async () => {
    const body = Buffer.from(`{
    "compartmentId": "ocid1.compartment.oc1..aaaaaaaam3we6vgnherjq5q2idnccdflvjsnog7mlr6rtdb25gilchfeyjxa",
    "instanceId": "ocid1.instance.oc1.phx.abuw4ljrlsfiqw6vzzxb43vyypt4pkodawglp3wqxjqofakrwvou52gb6s5a",
    "volumeId": "ocid1.volume.oc1.phx.abyhqljrgvttnlx73nmrwfaux7kcvzfs3s66izvxf2h4lgvyndsdsnoiwr5q"
}`);
    const url = 'https://iaas.us-phoenix-1.oraclecloud.com/20160918/volumeAttachments';
    const request = { url, method: 'POST', headers: { 'content-type': 'application/json' }, body };
    expect(await credentials.authorise(published, request, signal)).toEqual({
      date: 'Thu, 05 Jan 2014 21:31:40 GMT',
      'content-type': 'application/json',
      'x-content-sha256': 'V9Z20UJTvkvpJ50flBzKE32+6m2zJjweHpDMX/U4Uy0=',
      authorization: `Signature version="1",keyId="${keyId}",algorithm="rsa-sha256",headers="date (request-target) host content-length content-type x-content-sha256",signature="Mje8vIDPlwIHmD/cTDwRxE7HaAvBg16JnVcsuqaNRim23fFPgQfLoOOxae6WqKb1uPjYEl0qIdazWaBy/Ml8DRhqlocMwoSXv0fbukP8J5N80LCmzT/FFBvIvTB91XuXI3hYfP9Zt1l7S6ieVadHUfqBedWH0itrtPJBgKmrWso="`,
    });
  });
});

test('a key under a passphrase, with its line ends written as text, is read', async () => {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'open' },
  });
  const flat = { ...published, privateKey: privateKey.replaceAll('\n', '\\n'), passphrase: 'open' };
  const request = { url: 'https://x.oraclecloud.com/', method: 'GET', headers: {}, body: null };
  expect((await credentials.authorise(flat, request, signal)).authorization).toStartWith('Signature version="1"');
});

test('a key that is none is refused by name, without being shown', async () => {
  const broken = credentials.authorise(
    { ...published, privateKey: 'not-a-key' },
    { url: 'https://x.oraclecloud.com/', method: 'GET', headers: {}, body: null },
    signal,
  );
  await expect(broken).rejects.toMatchObject({ code: 'missing_credential', field: 'oracle_private_key' });
  await broken.catch((fault) => expect(fault.message).not.toContain('not-a-key'));
});
