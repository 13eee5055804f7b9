import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../../test/call-facts.ts';
import { vertexModel } from './model.ts';
import { atRegionalService, modelMethod, vertexAddress } from './place.ts';
import { rerank } from './rerank.ts';
import { vertex } from './vertex.ts';

const at = (vertex_region: string, more: object = {}) =>
  callFacts({ fields: { vertex_project_id: 'p-1', vertex_region, ...more } });

describe('the address', () => {
  test.each([
    ['us-central1', 'https://us-central1-aiplatform.googleapis.com'],
    ['global', 'https://aiplatform.googleapis.com'],
    ['us', 'https://aiplatform.us.rep.googleapis.com'],
    ['eu', 'https://aiplatform.eu.rep.googleapis.com'],
  ])('of %s', (region, address) => {
    expect(vertexAddress(at(region))).toBe(address);
  });

  test.each(['evil.test/', 'a@evil.test#', '', '../x'])('never leads elsewhere by a region like %p', (region) => {
    expect(() => vertexAddress(at(region))).toThrow('vertex_region');
  });

  test('of another service is Google’s, or lies under the target’s own host', () => {
    const path = rerank.path as (facts: ReturnType<typeof at>) => string;
    const ranking = '/v1/projects/p-1/locations/global/rankingConfigs/default_ranking_config:rank';
    expect(path(at('global'))).toBe(`https://discoveryengine.googleapis.com${ranking}`);
    expect(path({ ...at('global'), customHost: 'https://proxy.test' })).toBe(ranking);
  });

  test.each([
    ['global', 'https://speech.googleapis.com/v2'],
    ['eu', 'https://eu-speech.googleapis.com/v2'],
    ['us-central1', 'https://us-central1-speech.googleapis.com/v2'],
  ])('of a service with hosts of its own in %s', (region, address) => {
    expect(atRegionalService(at(region), 'speech', '/v2')).toBe(address);
  });
});

describe('the project', () => {
  const facts = (fields: object) => callFacts({ model: 'gemini-2.5-pro', fields: { vertex_region: 'eu', ...fields } });
  const account = { project_id: 'from-account', client_email: 'x', private_key: 'y' };

  test('may come from a service account, written as text or as an object', () => {
    for (const vertex_service_account_json of [account, JSON.stringify(account)]) {
      expect(modelMethod(facts({ vertex_service_account_json }), 'generateContent')).toBe(
        '/v1/projects/from-account/locations/eu/publishers/google/models/gemini-2.5-pro:generateContent',
      );
    }
  });

  test('must be known', () => {
    expect(() => modelMethod(facts({}), 'generateContent')).toThrow('vertex_project_id is missing');
  });
});

test.each([
  ['gemini-2.5-pro', { kind: 'google', name: 'gemini-2.5-pro' }],
  ['google.gemini-2.5-pro', { kind: 'google', name: 'gemini-2.5-pro' }],
  ['google/gemini-2.5-pro', { kind: 'google', name: 'gemini-2.5-pro' }],
  ['anthropic.claude-opus-4-1@20250805', { kind: 'anthropic', name: 'claude-opus-4-1@20250805' }],
  ['claude-opus-4-1@20250805', { kind: 'anthropic', name: 'claude-opus-4-1@20250805' }],
  ['mistralai.codestral-2501', { kind: 'mistralai', name: 'codestral-2501' }],
  ['meta.llama-3.3-70b', { kind: 'open', name: 'meta/llama-3.3-70b' }],
  ['deepseek-ai/deepseek-v3.1-maas', { kind: 'open', name: 'deepseek-ai/deepseek-v3.1-maas' }],
  ['endpoints.123', { kind: 'endpoint', name: '123' }],
] as const)('%s', (model, meant) => {
  expect(vertexModel(model)).toEqual(meant);
});

describe('a credential', () => {
  const scope = 'https://www.googleapis.com/auth/cloud-platform';
  const shown = (fields: object, credential: string | null) => {
    const facts = callFacts({ fields: { ...fields }, credential });
    return [vertex.authentication?.(facts) ?? null, vertex.headers(facts)];
  };

  test.each([
    ['a token', { vertex_auth_type: 'basic' }, 'ya29.x', [null, { authorization: 'Bearer ya29.x' }]],
    ['a key', { vertex_auth_type: 'basic' }, 'AIzaX', [null, { 'x-goog-api-key': 'AIzaX' }]],
    [
      'a service account',
      { vertex_service_account_json: { a: 1 } },
      'unused',
      [{ kind: 'google', scope, credentials: { from: 'service-account', json: '{"a":1}' } }, {}],
    ],
    [
      'the gateway’s own',
      { vertex_auth_type: 'workloadIdentity' },
      'unused',
      [{ kind: 'google', scope, credentials: { from: 'gateway' } }, {}],
    ],
    [
      'the gateway’s own, as integrations write it',
      { vertex_auth_type: 'workload' },
      null,
      [{ kind: 'google', scope, credentials: { from: 'gateway' } }, {}],
    ],
    ['none, and never the gateway’s by accident', {}, null, [null, {}]],
  ])('%s', (_, fields, credential, expected) => {
    expect(shown(fields, credential)).toEqual(expected as ReturnType<typeof shown>);
  });
});
