import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Plane, savedProvider, startPlane } from '../../../test/gateway-deps.ts';

let plane: Plane;
let config: string;

beforeAll(() => {
  plane = startPlane({ settings: { blockInlineConfig: true } });
  plane.providers.set('s', savedProvider('s', { provider: 'sandbox', credential: null }));
  config = plane.saveConfig({ provider: '@s' });
});
afterAll(() => plane.stop());

const body = { model: 'echo', messages: [{ role: 'user', content: 'Hi' }] };

const refusals: [code: string, header: string, value: string][] = [
  ['inline_config_blocked', 'x-gw-config', ' {"provider":"openai"}'],
  ['inline_provider_blocked', 'x-gw-provider', 'openai'],
  ['inline_provider_blocked', 'x-gw-mode', 'proxy openai'],
  ['inline_custom_host_blocked', 'x-gw-custom-host', 'https://example.com/v1'],
  ['inline_provider_url_blocked', 'x-gw-huggingface-base-url', 'https://example.com'],
  ['inline_provider_url_blocked', 'x-gw-azure-foundry-url', 'https://example.com'],
  ['inline_provider_url_blocked', 'x-gw-databricks-workspace', 'w'],
  ['inline_forward_headers_blocked', 'x-gw-forward-headers', 'x-a'],
];

test.each(refusals)('%s: %s is refused, and the body names the header', async (code, header, value) => {
  const response = await plane.call('/v1/chat/completions', body, { [header]: value });
  const answer = (await response.json()) as { status: string; message: string; error: Record<string, unknown> };
  expect(response.status).toBe(400);
  expect(answer).toMatchObject({ status: 'failure', error: { code, field: header } });
  expect(answer.message).toBe(String(answer.error.message));
});

test('of several violations the first in the order of the specification answers', async () => {
  const headers: Record<string, string> = {};
  for (const [code, header, value] of refusals.toReversed()) {
    headers[header] = value;
    const response = await plane.call('/v1/chat/completions', body, headers);
    expect(await response.json()).toMatchObject({ error: { code } });
  }
});

test('on the messages route the refusal has that route’s form, with code and field', async () => {
  const response = await plane.call('/v1/messages', body, { 'x-gw-provider': 'anthropic' });
  expect(await response.json()).toMatchObject({
    type: 'error',
    error: { code: 'inline_provider_blocked', field: 'x-gw-provider' },
  });
});

describe('still allowed', () => {
  test.each<[string, () => Record<string, string>, object]>([
    ['a config by its slug', () => ({ 'x-gw-config': config }), {}],
    ['a saved provider', () => ({ 'x-gw-provider': '@s' }), {}],
    ['a virtual key', () => ({ 'x-gw-virtual-key': 's' }), {}],
    ['a model with its provider', () => ({}), { model: '@s/echo' }],
    ['a credential beside our key', () => ({ 'x-gw-provider': '@s', authorization: 'Bearer x' }), {}],
    ['other settings of a provider', () => ({ 'x-gw-provider': '@s', 'x-gw-aws-region': 'eu' }), {}],
  ])('%s', async (_, headers, more) => {
    expect((await plane.call('/v1/chat/completions', { ...body, ...more }, headers())).status).toBe(200);
  });
});

test('the workspace’s own setting suffices', async () => {
  const other = startPlane();
  other.settings = { ...other.settings, data_plane_security_settings: { block_inline_config: true } };
  const response = await other.call('/v1/chat/completions', body, { 'x-gw-provider': 'openai' });
  expect(await response.json()).toMatchObject({ error: { code: 'inline_provider_blocked' } });
  await other.stop();
});
