/** Tokens of end users that an endpoint is asked about: remembered for who asked, and on whose terms. */
import { afterAll, beforeEach, expect, test } from 'bun:test';
import { BodyBudget } from '../gateway/request/body-budget.ts';
import { createHostGuard } from '../gateway/upstream/host-guard.ts';
import { HttpClient } from '../wire/client/http-client.ts';
import { createEndUserTokens } from './end-user-token.ts';
import { createUpstreamHttp } from './upstream/http.ts';

/** Knows tokens of one client alone. */
let asked: string[] = [];
const endpoint = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const by = request.headers.get('authorization') ?? 'nobody';
    asked.push(by);
    const isKnown = by === `Basic ${btoa('first:secret')}`;
    return Response.json(isKnown ? { active: true, sub: 'anna' } : { active: false });
  },
});
afterAll(() => endpoint.stop(true));
beforeEach(() => {
  asked = [];
});

const guard = createHostGuard({ named: ['127.0.0.1'], own: [] }, async () => []);
const client = new HttpClient({});
const http = createUpstreamHttp(client, guard, new BodyBudget(1024 * 1024));
afterAll(() => client.close());

const rule = (id: string, secret: string, maxAge = 600) => ({
  introspectEndpoint: `http://127.0.0.1:${endpoint.port}/introspect`,
  introspectContentType: 'application/json' as const,
  introspectClientId: id,
  introspectClientSecret: secret,
  introspectCacheMaxAge: maxAge,
  headerKey: 'authorization',
  algorithms: [],
  cacheMaxAge: 0,
  clockTolerance: 0,
  requiredClaims: [],
  headerPayloadMatch: [],
  claimValues: {},
});

type Asking = ReturnType<typeof createEndUserTokens>;
const claimsOf = (tokens: Asking, organisationId: string, validation: ReturnType<typeof rule>) =>
  tokens({ organisationId, settings: { jwt_validation: validation } }, { authorization: 'Bearer opaque' }).catch(
    (fault: Error) => fault.message,
  );

test('an answer is remembered', async () => {
  const tokens = createEndUserTokens(http, () => 0);
  for (let count = 0; count < 3; count++) {
    expect(await claimsOf(tokens, 'a', rule('first', 'secret'))).toMatchObject({ sub: 'anna' });
  }
  expect(asked).toHaveLength(1);
});

test('an answer for one organisation answers for no other', async () => {
  const tokens = createEndUserTokens(http, () => 0);
  await claimsOf(tokens, 'a', rule('first', 'secret'));
  expect(await claimsOf(tokens, 'b', rule('second', 'secret'))).toBe('the token is inactive');
  await claimsOf(tokens, 'b', rule('first', 'secret'));
  expect(asked).toHaveLength(3);
});

test('an answer that was got with other credentials, or is believed for another time, is asked for anew', async () => {
  const tokens = createEndUserTokens(http, () => 0);
  await claimsOf(tokens, 'a', rule('first', 'secret'));
  expect(await claimsOf(tokens, 'a', rule('first', 'wrong'))).toBe('the token is inactive');
  await claimsOf(tokens, 'a', rule('first', 'secret', 60));
  expect(asked).toHaveLength(3);
});
