/** Signatures for AWS, checked with the published test vectors, and the keys that they are made with: each source, its cache and its renewal. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestClock } from '../../../test/harness.ts';
import {
  containerAgent,
  type Issued,
  instanceMetadata,
  parametersOf,
  tokenService,
} from '../../../test/providers/aws-identity.ts';
import type { KnownKeys } from '../../../test/providers/aws-signature.ts';
import { type ReceivedCall, type SimulatedProvider, startProvider } from '../../../test/providers/simulated.ts';
import type { Authentication, AwsCredentials } from '../../providers/authentication.ts';
import { GatewayError } from '../errors.ts';
import type { Credentials } from './authorise.ts';
import { signed } from './aws-signature.ts';
import { createCredentials } from './credentials.ts';

const keys = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: null,
};
const scope = { service: 'service', region: 'us-east-1', at: new Date('2015-08-30T12:36:00Z') };

const signatureOf = async (method: string, url: string, given: typeof keys | { sessionToken: string } = keys) => {
  const request = { url, method, headers: {}, body: null };
  const { authorization } = await signed(request, { ...keys, ...given }, scope);
  return authorization?.replace(/^.*SignedHeaders=/, '');
};

describe('a signature is the one of the published vectors for', () => {
  const base = 'https://example.amazonaws.com';
  const vectors: [name: string, method: string, url: string, signature: string][] = [
    ['get-vanilla', 'GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    ['post-vanilla', 'POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [
      'get-vanilla-query-order-key-case',
      'GET',
      '/?Param2=value2&Param1=value1',
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
  ];
  for (const [name, method, path, signature] of vectors) {
    test(name, async () => {
      expect(await signatureOf(method, base + path)).toBe(`host;x-amz-date, Signature=${signature}`);
    });
  }

  test('get-vanilla-with-session-token', async () => {
    const sessionToken = '6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267';
    expect(await signatureOf('GET', `${base}/`, { sessionToken })).toBe(
      'host;x-amz-date;x-amz-security-token, Signature=07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8',
    );
  });

  test('S3’s own example of reading a bucket’s lifecycle', async () => {
    const s3Keys = {
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      sessionToken: null,
    };
    const { authorization, ...rest } = await signed(
      { url: 'https://examplebucket.s3.amazonaws.com/?lifecycle', method: 'GET', headers: {}, body: null },
      s3Keys,
      { service: 's3', region: 'us-east-1', at: new Date('2013-05-24T00:00:00Z') },
    );
    expect(authorization).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    );
    expect(rest['x-amz-content-sha256']).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  });
});

const region = 'eu-central-1';
let service: SimulatedProvider;
let folder: string;
let clock: TestClock;
let given: number;

beforeAll(async () => {
  service = await startProvider();
  folder = mkdtempSync(join(tmpdir(), 'gw-aws-'));
  writeFileSync(join(folder, 'token'), 'web-token\n');
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  service.calls.length = 0;
  clock = new TestClock();
  given = 0;
});
afterEach(() => service.script());

const origin = () => new URL(service.url).origin;

/** Keys that last an hour, others each time. */
const issued = (): Issued => {
  given++;
  return {
    keys: { accessKeyId: `ASIA${given}`, secretAccessKey: `secret-${given}`, sessionToken: `session-${given}` },
    expiration: new Date(clock.now().getTime() + 3_600_000).toISOString(),
  };
};

const credentialsWith = (env: Record<string, string> = {}): Credentials =>
  createCredentials({
    fetch,
    now: () => clock.now(),
    env: { AWS_ENDPOINT_URL_STS: origin(), ...env },
    readFile: (path) => Bun.file(path).text(),
  });

const authorise = async (credentials: Credentials, source: AwsCredentials): Promise<Record<string, string>> => {
  const authentication: Authentication = { kind: 'aws', service: 'bedrock', region, credentials: source };
  const request = {
    url: 'https://bedrock-runtime.eu-central-1.amazonaws.com/model/a/converse',
    method: 'POST',
    headers: {},
    body: null,
  };
  return credentials.authorise(authentication, request, new AbortController().signal);
};

const keyIn = (headers: Record<string, string>): string | undefined =>
  /Credential=([^/]+)/.exec(headers.authorization ?? '')?.[1];

const role = (more: Partial<Extract<AwsCredentials, { from: 'role' }>> = {}): AwsCredentials => ({
  from: 'role',
  roleArn: 'arn:aws:iam::123456789012:role/models',
  externalId: null,
  tags: {},
  with: { from: 'keys', ...keys },
  ...more,
});

const caller = { accessKeyId: keys.accessKeyId, secretAccessKey: keys.secretAccessKey };

const refused = async (asking: Promise<unknown>): Promise<GatewayError> => {
  const fault = await asking.then(
    () => null,
    (error: unknown) => error,
  );
  if (fault instanceof GatewayError) return fault;
  throw new Error(`Not refused: ${fault}`);
};

describe('a role', () => {
  test('is assumed with the target’s keys, its external id and its tags', async () => {
    service.script(tokenService({ caller, externalId: 'ext&1', region, issued }));
    const headers = await authorise(credentialsWith(), role({ externalId: 'ext&1', tags: { team: 'a b' } }));
    expect([keyIn(headers), headers['x-amz-security-token']]).toEqual(['ASIA1', 'session-1']);
    expect(parametersOf(service.calls[0] as ReceivedCall)).toEqual({
      Action: 'AssumeRole',
      Version: '2011-06-15',
      RoleArn: 'arn:aws:iam::123456789012:role/models',
      RoleSessionName: 'gw',
      ExternalId: 'ext&1',
      'Tags.member.1.Key': 'team',
      'Tags.member.1.Value': 'a b',
    });
  });

  test('is assumed once for many calls at once, and again before its keys end', async () => {
    service.script(tokenService({ caller, region, issued }));
    const credentials = credentialsWith();
    const many = await Promise.all(Array.from({ length: 10 }, () => authorise(credentials, role())));
    expect(new Set(many.map(keyIn))).toEqual(new Set(['ASIA1']));
    clock.advance({ minutes: 54 });
    expect(keyIn(await authorise(credentials, role()))).toBe('ASIA1');
    clock.advance({ minutes: 2 });
    expect(keyIn(await authorise(credentials, role()))).toBe('ASIA2');
    expect(service.calls).toHaveLength(2);
  });

  test('has keys of its own for every external id and every caller', async () => {
    const credentials = credentialsWith();
    const other = { accessKeyId: 'AKIDOTHER', secretAccessKey: 'other' };
    service.script(
      tokenService({ caller, externalId: 'one', region, issued }),
      tokenService({ caller, externalId: 'two', region, issued }),
      tokenService({ caller: other, externalId: 'two', region, issued }),
    );
    expect(keyIn(await authorise(credentials, role({ externalId: 'one' })))).toBe('ASIA1');
    expect(keyIn(await authorise(credentials, role({ externalId: 'two' })))).toBe('ASIA2');
    const fromOther = role({ externalId: 'two', with: { from: 'keys', ...other, sessionToken: null } });
    expect(keyIn(await authorise(credentials, fromOther))).toBe('ASIA3');
  });

  test('that is refused tells why, and is asked for again by the next call', async () => {
    service.script(
      tokenService({ caller, externalId: 'right', region, issued }),
      tokenService({ caller, region, issued }),
    );
    const credentials = credentialsWith();
    const fault = await refused(authorise(credentials, role()));
    expect([fault.status, fault.code]).toEqual([403, 'upstream_refused']);
    expect(fault.message).toContain('is not authorized to perform: sts:AssumeRole');
    expect(keyIn(await authorise(credentials, role()))).toBe('ASIA1');
  });

  test('without keys is assumed by the gateway as itself', async () => {
    service.script(tokenService({ caller, region, issued }));
    const env = { AWS_ACCESS_KEY_ID: caller.accessKeyId, AWS_SECRET_ACCESS_KEY: caller.secretAccessKey };
    expect(keyIn(await authorise(credentialsWith(env), role({ with: null })))).toBe('ASIA1');
  });

  test('is assumed through the role that the operator puts between, which has an external id of its own', async () => {
    const signedBy = (access: number): KnownKeys => ({
      accessKeyId: `ASIA${access}`,
      secretAccessKey: `secret-${access}`,
      sessionToken: `session-${access}`,
    });
    service.script(
      tokenService({ webToken: 'web-token', region, issued }),
      tokenService({ caller: signedBy(1), externalId: 'between', region, issued }),
      tokenService({ caller: signedBy(2), externalId: 'customer', region, issued }),
      tokenService({ caller: signedBy(2), externalId: 'another', region, issued }),
    );
    const credentials = credentialsWith({
      AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, 'token'),
      AWS_ROLE_ARN: 'arn:aws:iam::1:role/pod',
      AWS_ASSUME_ROLE_SOURCE_ARN: 'arn:aws:iam::1:role/lender',
      AWS_ASSUME_ROLE_SOURCE_EXTERNAL_ID: 'between',
    });
    const customer = role({ with: null, externalId: 'customer', tags: { tenant: 'one' } });
    expect(keyIn(await authorise(credentials, customer))).toBe('ASIA3');
    expect(keyIn(await authorise(credentials, role({ with: null, externalId: 'another' })))).toBe('ASIA4');
    const asked = service.calls.map((call) => parametersOf(call));
    expect(asked.map(({ RoleArn, ExternalId }) => [RoleArn, ExternalId])).toEqual([
      ['arn:aws:iam::1:role/pod', undefined],
      ['arn:aws:iam::1:role/lender', 'between'],
      ['arn:aws:iam::123456789012:role/models', 'customer'],
      ['arn:aws:iam::123456789012:role/models', 'another'],
    ]);
    expect(asked.map((parameters) => parameters['Tags.member.1.Value'])).toEqual([
      undefined,
      undefined,
      'one',
      undefined,
    ]);
  });

  test('with keys of the customer’s needs no role between', async () => {
    service.script(tokenService({ caller, region, issued }));
    const env = { AWS_ASSUME_ROLE_SOURCE_ARN: 'arn:aws:iam::1:role/lender' };
    expect(keyIn(await authorise(credentialsWith(env), role()))).toBe('ASIA1');
    expect(service.calls).toHaveLength(1);
  });

  test('lets a caller that leaves go, while others wait on', async () => {
    const gate = Promise.withResolvers<void>();
    service.script(async (call, response) => {
      await gate.promise;
      await tokenService({ caller, region, issued })(call, response);
    });
    const credentials = credentialsWith();
    const leaving = new AbortController();
    const authentication: Authentication = { kind: 'aws', service: 'bedrock', region, credentials: role() };
    const request = { url: 'https://example.amazonaws.com/', method: 'GET', headers: {}, body: null };
    const first = credentials.authorise(authentication, request, leaving.signal);
    const second = credentials.authorise(authentication, request, new AbortController().signal);
    leaving.abort(new Error('left'));
    expect(await first.catch((fault: Error) => fault.message)).toBe('left');
    gate.resolve();
    expect(keyIn(await second)).toBe('ASIA1');
  });
});

describe('the gateway’s own identity', () => {
  const own: AwsCredentials = { from: 'gateway' };

  test('is the one of its environment', async () => {
    const env = { AWS_ACCESS_KEY_ID: 'AKIDENV', AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: 'session' };
    const headers = await authorise(credentialsWith(env), own);
    expect([keyIn(headers), headers['x-amz-security-token']]).toEqual(['AKIDENV', 'session']);
  });

  test('is given for a token in a file', async () => {
    service.script(tokenService({ webToken: 'web-token', region, issued }));
    const env = { AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, 'token'), AWS_ROLE_ARN: 'arn:aws:iam::1:role/pod' };
    expect(keyIn(await authorise(credentialsWith(env), own))).toBe('ASIA1');
    expect(service.calls[0]?.headers.authorization).toBeUndefined();
  });

  test('is given by a container’s agent, with the token of a file', async () => {
    service.script(containerAgent('web-token', issued));
    const env = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${origin()}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: join(folder, 'token'),
    };
    const credentials = credentialsWith(env);
    expect(keyIn(await authorise(credentials, own))).toBe('ASIA1');
    expect(keyIn(await authorise(credentials, own))).toBe('ASIA1');
    expect(service.calls).toHaveLength(1);
  });

  test('is given by an instance, within a session', async () => {
    service.script(instanceMetadata(issued));
    const env = { AWS_EC2_METADATA_SERVICE_ENDPOINT: origin() };
    const headers = await authorise(credentialsWith(env), own);
    expect([keyIn(headers), headers['x-amz-security-token']]).toEqual(['ASIA1', 'session-1']);
  });

  test('that is nowhere is said to be missing', async () => {
    const fault = await refused(authorise(credentialsWith({ AWS_EC2_METADATA_DISABLED: 'true' }), own));
    expect([fault.status, fault.code]).toEqual([400, 'missing_credential']);
  });
});
