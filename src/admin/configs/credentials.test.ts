/** What callers see of the credentials in a config, and how they come back. */
import { describe, expect, test } from 'bun:test';
import { maskConfig, restoreCredentials } from './credentials.ts';

const saved = {
  strategy: { mode: 'loadbalance' },
  first_token_timeout: 500,
  targets: [
    { provider: 'openai', api_key: 'sk-canary-one', override_params: { max_tokens: 10, token: 'kept' } },
    { provider: 'bedrock', aws_access_key_id: 'AKIACANARY22', aws_secret_access_key: 'short' },
    { provider: 'vertex-ai', vertex_service_account_json: { private_key: 'canary' } },
    {
      provider: '@saved',
      input_guardrails: ['pg-one', { 'default.webhook': { headers: { authorization: 'canary' } } }],
    },
  ],
};

describe('reading', () => {
  test('every credential is masked, and nothing else', () => {
    const shown = maskConfig(saved);
    expect(JSON.stringify(shown)).not.toContain('anary');
    expect(shown).toEqual({
      strategy: { mode: 'loadbalance' },
      first_token_timeout: 500,
      targets: [
        { provider: 'openai', api_key: 'sk*******ne', override_params: { max_tokens: 10, token: 'kept' } },
        { provider: 'bedrock', aws_access_key_id: 'AK*******22', aws_secret_access_key: '*******' },
        { provider: 'vertex-ai', vertex_service_account_json: '*******' },
        {
          provider: '@saved',
          input_guardrails: ['pg-one', { 'default.webhook': { headers: { authorization: '*******' } } }],
        },
      ],
    });
  });
});

describe('sending back', () => {
  test('what was read comes back as it was saved', () => {
    expect(restoreCredentials(maskConfig(saved), saved)).toEqual({ config: saved, unknown: [] });
  });

  test('a target may have moved', () => {
    const [first, ...others] = maskConfig(saved).targets as object[];
    const [savedFirst, ...savedOthers] = saved.targets;
    expect(restoreCredentials({ targets: [...others, first] }, saved)).toEqual({
      config: { targets: [...savedOthers, savedFirst] },
      unknown: [],
    });
  });

  test('a mask that stands for several is named where it cannot be told which', () => {
    const two = { targets: [{ api_key: 'sk-canary-one' }, { api_key: 'sk-canary-ten-one' }] };
    const shown = maskConfig(two).targets as object[];
    expect(restoreCredentials({ targets: shown }, two).config).toEqual(two);
    expect(restoreCredentials({ targets: [{ retry: {} }, {}, ...shown] }, two).unknown).toEqual([
      'targets.2.api_key',
      'targets.3.api_key',
    ]);
  });

  test('a new credential replaces the old one', () => {
    expect(restoreCredentials({ api_key: 'sk-other' }, saved)).toEqual({
      config: { api_key: 'sk-other' },
      unknown: [],
    });
  });

  test('a mask of nothing that was saved is named', () => {
    expect(restoreCredentials({ api_key: 'xx*******yy' }, saved).unknown).toEqual(['api_key']);
    expect(restoreCredentials({ api_key: 'sk*******ne' }, null).unknown).toEqual(['api_key']);
  });
});
