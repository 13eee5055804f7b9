/** Keys in camelCase, read as what they are called on the wire. */
import { describe, expect, test } from 'bun:test';
import { snakeCase, withSnakeCaseKeys } from './camel-case.ts';

describe('a key', () => {
  test.each([
    ['requestTimeout', 'request_timeout'],
    ['strictOpenAiCompliance', 'strict_open_ai_compliance'],
    ['strictOpenAICompliance', 'strict_open_ai_compliance'],
    ['awsS3Bucket', 'aws_s3_bucket'],
    ['vertexServiceAccountJson', 'vertex_service_account_json'],
    ['use_retryAfterHeader', 'use_retry_after_header'],
    ['request_timeout', 'request_timeout'],
    ['mode', 'mode'],
    ['DISABLED', 'DISABLED'],
    ['X-Header', 'X-Header'],
    ['params.maxTokens', 'params.maxTokens'],
  ])('%s is spelled %s', (key, spelled) => {
    expect(snakeCase(key)).toBe(spelled);
  });
});

describe('a config in camelCase', () => {
  test('is spelled in snake_case at every level', () => {
    expect(
      withSnakeCaseKeys({
        strategy: { mode: 'fallback', onStatusCodes: [429] },
        targets: [{ virtualKey: 'a', retry: { useRetryAfterHeader: true } }],
        beforeRequestHooks: [{ id: 'h', onFail: { feedback: { value: 1 } } }],
      }),
    ).toEqual({
      strategy: { mode: 'fallback', on_status_codes: [429] },
      targets: [{ virtual_key: 'a', retry: { use_retry_after_header: true } }],
      before_request_hooks: [{ id: 'h', on_fail: { feedback: { value: 1 } } }],
    });
  });

  test.each([
    ['overrideParams', 'override_params'],
    ['default_params', 'default_params'],
    ['params', 'params'],
    ['checks', 'checks'],
    ['conditions', 'conditions'],
    ['inputGuardrails', 'input_guardrails'],
    ['outputGuardrails', 'output_guardrails'],
    ['inputMutators', 'input_mutators'],
    ['vertexServiceAccountJson', 'vertex_service_account_json'],
    ['cbConfig', 'cb_config'],
    ['metadata', 'metadata'],
  ])('keeps the spelling inside %s', (key, spelled) => {
    const inside = [{ maxTokens: 5, deeper: { toolChoice: 'auto' } }];
    expect(withSnakeCaseKeys({ [key]: inside })).toEqual({ [spelled]: inside });
  });

  test('a field in both spellings keeps the camelCase one apart, for the schema to refuse', () => {
    expect(withSnakeCaseKeys({ requestTimeout: 1, request_timeout: 2 })).toEqual({
      requestTimeout: 1,
      request_timeout: 2,
    });
  });

  test('is copied: the original stays as it was, opaque parts included', () => {
    const original = { overrideParams: { a: { b: 1 } } };
    const copy = withSnakeCaseKeys(original);
    expect(original).toEqual({ overrideParams: { a: { b: 1 } } });
    expect(Object.values(Object(copy))[0]).not.toBe(original.overrideParams);
  });
});
