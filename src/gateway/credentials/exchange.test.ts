import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { callFacts } from '../../../test/call-facts.ts';
import { json, silence } from '../../../test/providers/simulated.ts';
import { startTokenServices, type TokenServices } from '../../../test/providers/token-services.ts';
import type { Authentication } from '../../providers/authentication.ts';
import { gigachat } from '../../providers/compatible/gigachat.ts';
import { githubCopilot } from '../../providers/compatible/github-copilot.ts';
import type { CallFacts, Provider } from '../../providers/provider.ts';
import { watsonx } from '../../providers/watsonx/watsonx.ts';

let services: TokenServices;
beforeEach(async () => {
  services = await startTokenServices();
});
afterEach(() => services.service.stop());

const request = { url: 'https://api.example/v1/chat/completions', method: 'POST', headers: {}, body: null };
const { signal } = new AbortController();

function exchangeOf(provider: Provider, facts: Partial<CallFacts>): Authentication {
  const authentication = provider.authentication?.(callFacts(facts));
  if (!authentication) throw new Error(`${provider.id} exchanges nothing`);
  return authentication;
}

const ibm = exchangeOf(watsonx, { credential: 'key-1' });
const copilot = exchangeOf(githubCopilot, { credential: 'gho_1' });
const key = Buffer.from('5cb7-id:9a1f-secret').toString('base64');
const giga = exchangeOf(gigachat, { credential: key });

describe('a credential that lives long', () => {
  test('is exchanged at IBM Cloud', async () => {
    expect(await services.credentials().authorise(ibm, request, signal)).toEqual({ authorization: 'Bearer token-1' });
    expect(services.service.calls[0]).toMatchObject({ method: 'POST', path: '/identity/token' });
    expect(Object.fromEntries(services.asked[0] ?? [])).toEqual({
      grant_type: 'urn:ibm:params:oauth:grant-type:apikey',
      apikey: 'key-1',
    });
  });

  test('is exchanged at GitHub, whose answer tells the second at which the token ends', async () => {
    const end = Math.floor(services.clock.now().getTime() / 1000) + 1_800;
    const answer = { token: 'tid=1;exp=2', expires_at: end, refresh_in: 1_500 };
    services.service.script(json(200, answer), json(200, { ...answer, token: 'tid=2' }));
    const credentials = services.credentials();
    const ask = () => credentials.authorise(copilot, request, signal);
    expect(await ask()).toEqual({ authorization: 'Bearer tid=1;exp=2' });
    const [call] = services.service.calls;
    expect(call).toMatchObject({ method: 'GET', path: '/copilot_internal/v2/token' });
    expect([call?.headers.authorization, call?.headers['user-agent']]).toEqual(['token gho_1', 'gw']);
    services.clock.advance({ minutes: 24 });
    expect(await ask()).toEqual({ authorization: 'Bearer tid=1;exp=2' });
    services.clock.advance({ minutes: 2 });
    expect(await ask()).toEqual({ authorization: 'Bearer tid=2' });
  });

  test('is exchanged at GigaChat, under a new id each time; its answer tells the millisecond', async () => {
    const end = services.clock.now().getTime() + 30 * 60_000;
    services.service.script(json(200, { access_token: 'giga-1', expires_at: end }));
    const credentials = services.credentials();
    for (const _ of [1, 2]) {
      expect(await credentials.authorise(giga, request, signal)).toEqual({ authorization: 'Bearer giga-1' });
    }
    credentials.forget(giga);
    await credentials.authorise(giga, request, signal);
    const [first, second] = services.service.calls;
    expect(services.service.calls).toHaveLength(2);
    expect(first).toMatchObject({ method: 'POST', path: '/api/v2/oauth' });
    expect(first?.headers.authorization).toBe(`Basic ${key}`);
    expect(first?.body.toString()).toBe('scope=GIGACHAT_API_PERS');
    expect(first?.headers.rquid).toMatch(/^[0-9a-f-]{36}$/);
    expect(second?.headers.rquid).not.toBe(first?.headers.rquid);
  });

  test('is exchanged once for all who wait', async () => {
    const credentials = services.credentials();
    const ask = () => credentials.authorise(ibm, request, signal);
    await Promise.all([ask(), ask(), ask()]);
    expect(services.asked).toHaveLength(1);
  });

  test('never gets the token of another', async () => {
    const credentials = services.credentials();
    await credentials.authorise(ibm, request, signal);
    const other = exchangeOf(watsonx, { credential: 'key-2' });
    expect(await credentials.authorise(other, request, signal)).toEqual({ authorization: 'Bearer token-2' });
  });

  test.each([
    [
      ibm,
      400,
      { errorCode: 'BXNIM0415E', errorMessage: 'Provided API key could not be found.' },
      'Provided API key could not be found.',
    ],
    [copilot, 401, { message: 'Bad credentials', documentation_url: 'https://docs' }, 'Bad credentials'],
    [giga, 401, { code: 6, message: 'credentials doesn’t match db data' }, 'doesn’t match'],
  ])('that is unknown is refused in the words of the service', async (authentication, status, body, words) => {
    services.service.script(json(status, body));
    const refused = services.credentials().authorise(authentication, request, signal);
    await expect(refused).rejects.toMatchObject({ status: 401, message: expect.stringContaining(words) });
  });
});

describe('who gives up', () => {
  test('stops waiting at once, while the others get the token', async () => {
    const gate = Promise.withResolvers<void>();
    services.service.script(async (call, response) => {
      await gate.promise;
      return json(200, { access_token: 'late', expires_in: 3_600 })(call, response);
    });
    const credentials = services.credentials();
    const leaving = new AbortController();
    const left = credentials.authorise(ibm, request, leaving.signal).catch((fault: unknown) => fault);
    const stays = credentials.authorise(ibm, request, signal);
    while (services.service.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    leaving.abort(new Error('left'));
    expect(await left).toMatchObject({ message: 'left' });
    gate.resolve();
    expect(await stays).toEqual({ authorization: 'Bearer late' });
    expect(services.service.calls).toHaveLength(1);
  });

  test('before anything was asked waits for nothing', async () => {
    services.service.script(silence);
    const gone = AbortSignal.abort(new Error('gone'));
    expect(
      await services
        .credentials()
        .authorise(ibm, request, gone)
        .catch((fault: unknown) => fault),
    ).toMatchObject({
      message: 'gone',
    });
  });
});

describe('a credential that is a token already', () => {
  test.each([
    ['of Copilot', githubCopilot, 'tid=1;exp=1700000000;sku=free:8kp=1'],
    ['of GigaChat', gigachat, 'eyJjdHkiOiJqd3QifQ.a.b'],
  ])('%s is sent as it is', (_, provider, credential) => {
    expect(provider.authentication?.(callFacts({ credential }))).toBeNull();
    expect(provider.headers(callFacts({ credential }))).toEqual({ authorization: `Bearer ${credential}` });
  });

  test('one that is exchanged stands in no header', () => {
    expect(githubCopilot.headers(callFacts({ credential: 'gho_1' }))).toEqual({});
    expect(gigachat.headers(callFacts({ credential: key }))).toEqual({});
  });

  test('the scope of GigaChat is that of the target', () => {
    const company = exchangeOf(gigachat, { credential: key, fields: { gigachat_scope: 'GIGACHAT_API_CORP' } });
    expect(company).toMatchObject({ form: { scope: 'GIGACHAT_API_CORP' } });
  });
});
