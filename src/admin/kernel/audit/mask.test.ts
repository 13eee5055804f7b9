/** What an audit row may show. */
import { expect, test } from 'bun:test';
import { managers } from '../../../secrets/managers/index.ts';
import { maskBody, maskHeaders, maskQuery } from './mask.ts';

const canary = 'canary-0123456789-yranac';

test('fields with a credential’s name are masked, in snake and camel case, at any depth', () => {
  const names = [
    'secret',
    'client_secret',
    'clientSecret',
    'token',
    'accessToken',
    'refresh_token',
    'key',
    'apiKey',
    'api_key',
    'API_KEYS',
    'private_key',
    'privateKeyPem',
    'credentials',
    'jwks',
    'key_value',
    'service_account_key_json',
    'Authorization',
  ];
  for (const name of names) {
    const masked = JSON.stringify(maskBody({ list: [{ inner: { [name]: canary } }] }));
    expect([name, masked.includes(canary)]).toEqual([name, false]);
    expect(masked).toContain('ca****ac');
  }
});

test('what secret references mask in their answers is masked here too', () => {
  for (const { maskedFields } of Object.values(managers)) {
    for (const name of maskedFields) {
      expect([name, JSON.stringify(maskBody({ auth_config: { [name]: canary } })).includes(canary)]).toEqual([
        name,
        false,
      ]);
    }
  }
});

test('a password shows nothing at all', () => {
  const masked = maskBody({
    password: 'correct horse',
    newPassword: 'battery staple',
    current_password: 12,
  });
  expect(masked).toEqual({ password: '****', newPassword: '****', current_password: '****' });
});

test('everything below a secret name is secret', () => {
  const masked = JSON.stringify(
    maskBody({ credentials: { user: canary, list: [canary, { deep: canary }], pin: 1234 } }),
  );
  expect(masked).not.toContain(canary);
  expect(masked).not.toContain('1234');
});

test('short secrets show nothing of themselves', () => {
  expect(maskBody({ token: 'abc1234' })).toEqual({ token: '****' });
});

test('ids, names, types and scopes stay readable', () => {
  const body = {
    api_key_id: 'a6f4',
    api_key_ids: ['a6f4'],
    secret_name: 'billing',
    token_type: 'bearer',
    api_key_scopes: ['logs.view'],
    scopes: ['workspace_user_api_keys.create'],
    name: 'Ada',
    key_transition_period_ms: 1_800_000,
  };
  expect(maskBody(body)).toEqual(body);
});

test('the keys of conditions and groupings are no credentials, those beside them are', () => {
  const conditions = [{ key: 'metadata.team', value: 'red' }];
  const group_by = [{ key: 'workspace_id' }];
  expect(maskBody({ conditions, group_by, key: canary })).toEqual({ conditions, group_by, key: 'ca****ac' });
  expect(JSON.stringify(maskBody({ conditions: [{ key: 'api_key', secret: canary }] }))).not.toContain(canary);
});

test('what is no object passes', () => {
  expect(maskBody('text')).toBe('text');
  expect(maskBody(null)).toBeNull();
  expect(maskBody([1, true])).toEqual([1, true]);
});

test('credentials in headers are masked, the rest is kept', () => {
  const headers = new Headers({
    'x-gw-api-key': canary,
    authorization: `Bearer ${canary}`,
    cookie: `gw_session=${canary}`,
    'x-gw-client-auth': canary,
    'x-gw-csrf': canary,
    'user-agent': 'curl/8',
    'content-type': 'application/json',
  });
  const masked = maskHeaders(headers);
  expect(JSON.stringify(masked)).not.toContain(canary);
  expect(masked).toMatchObject({
    'user-agent': 'curl/8',
    'content-type': 'application/json',
    'x-gw-api-key': 'ca****ac',
  });
});

test('credentials in the query are masked', () => {
  const query = new URLSearchParams({ api_key: canary, page_size: '5', workspace_id: 'ws-1' });
  expect(maskQuery(query)).toEqual({ api_key: 'ca****ac', page_size: '5', workspace_id: 'ws-1' });
});

test('an object sent as its JSON text is masked like the object', () => {
  const config = JSON.stringify({ targets: [{ provider: 'openai', api_key: 'sk-0123456789' }] });
  expect(maskBody({ name: 'Main', config })).toEqual({
    name: 'Main',
    config: '{"targets":[{"provider":"openai","api_key":"sk****89"}]}',
  });
  expect(maskBody({ note: '{not json' })).toEqual({ note: '{not json' });
});

test('JSON text that is broken shows nothing when it names a credential', () => {
  expect(maskBody({ config: `{"targets":[{"api_key":"${canary}"}` })).toEqual({ config: '****' });
  expect(maskBody({ config: `{"customHeaders":{"x-team":"${canary}"` })).toEqual({ config: '****' });
  expect(maskBody({ name: '[prod] Main' })).toEqual({ name: '[prod] Main' });
});

test('an object in a header or the query is masked like one in the body', () => {
  const config = JSON.stringify({ provider: 'openai', api_key: canary });
  const shown = '{"provider":"openai","api_key":"ca****ac"}';
  expect(maskHeaders(new Headers({ 'x-gw-config': config }))).toEqual({ 'x-gw-config': shown });
  expect(maskQuery(new URLSearchParams({ config }))).toEqual({ config: shown });
});
