import { describe, expect, test } from 'bun:test';
import { callFacts } from '../../../test/call-facts.ts';
import { azureOpenAi } from './azure-openai.ts';
import { withoutFilters } from './content-filter.ts';
import { deploymentOf } from './deployment.ts';

const deployments = [
  { deployment_id: 'large', alias: 'gpt-4o', api_version: '2025-01-01' },
  { deployment_id: 'small', alias: 'mini', is_default: true },
];

describe('the deployment', () => {
  test.each([
    ['by its alias', 'gpt-4o', { name: 'large', apiVersion: '2025-01-01' }],
    ['by its own name', 'large', { name: 'large', apiVersion: '2025-01-01' }],
    ['by default, for any other model, under the version of the target', 'o3', { name: 'small', apiVersion: 'v1' }],
    ['by default, for no model', '', { name: 'small', apiVersion: 'v1' }],
  ])('is found %s', (_, model, expected) => {
    expect(deploymentOf(callFacts({ model, fields: { deployments, api_version: 'v1' } }))).toEqual(expected);
  });

  test('is the first of the list where none is the default, as integrations write it', () => {
    const azure_deployment_config = [
      { azure_deployment_name: 'one', azure_api_version: '2024-06-01', azure_model_slug: 'gpt-4o' },
      { azure_deployment_name: 'two', azure_api_version: '2024-10-21', azure_model_slug: 'o3' },
    ];
    const chosen = (model: string) => deploymentOf(callFacts({ model, fields: { azure_deployment_config } }));
    expect(chosen('o3')).toEqual({ name: 'two', apiVersion: '2024-10-21' });
    expect(chosen('other')).toEqual({ name: 'one', apiVersion: '2024-06-01' });
  });

  test('is the model where nothing names one', () => {
    expect(deploymentOf(callFacts({ model: 'my model' }))).toEqual({ name: 'my model', apiVersion: '2024-10-21' });
  });
});

describe('a deployment of a model that has no chat', () => {
  const pathOf = (model: string, fields: object) => {
    const facts = callFacts({ model, fields: { ...fields } });
    const { chatComplete } = azureOpenAi.endpoints;
    const endpoint = typeof chatComplete === 'function' ? chatComplete(facts) : chatComplete;
    return typeof endpoint?.path === 'function' ? endpoint.path(facts, '') : endpoint?.path;
  };

  test('is asked for responses, whether its name tells or a setting', () => {
    const version = 'api-version=2025-04-01-preview';
    const api_version = '2025-04-01-preview';
    expect(pathOf('o3-pro', { api_version })).toBe(`/responses?${version}`);
    expect(pathOf('mine', { api_version, azure_model_name: 'gpt-5-codex' })).toBe(`/responses?${version}`);
    expect(pathOf('mine', { api_version })).toBe(`/deployments/mine/chat/completions?${version}`);
    expect(pathOf('o3-pro', { api_version, azure_model_name: 'gpt-4o' })).toBe(
      `/deployments/o3-pro/chat/completions?${version}`,
    );
  });
});

describe('authentication', () => {
  const authentication = (fields: object) => azureOpenAi.authentication?.(callFacts({ fields: { ...fields } }));
  const scope = 'https://cognitiveservices.azure.com/.default';

  test.each([
    [{}, null],
    [{ azure_auth_mode: 'apiKey' }, null],
    [{ azure_auth_mode: 'managed', azure_ad_token: 't' }, null],
    [{ azure_auth_mode: 'managed' }, { kind: 'entra', scope, credentials: { from: 'managed', clientId: null } }],
    [
      { azure_auth_mode: 'managed', azure_managed_client_id: 'm', azure_entra_scope: 'https://ai.azure.com/.default' },
      { kind: 'entra', scope: 'https://ai.azure.com/.default', credentials: { from: 'managed', clientId: 'm' } },
    ],
    [
      { azure_auth_mode: 'workload', azure_workload_client_id: 'w' },
      { kind: 'entra', scope, credentials: { from: 'workload', tenantId: null, clientId: 'w' } },
    ],
    [
      { azure_auth_mode: 'entraFederated', azure_entra_tenant_id: 't', azure_entra_client_id: 'c' },
      { kind: 'entra', scope, credentials: { from: 'workload', tenantId: 't', clientId: 'c' } },
    ],
    [
      {
        azure_auth_mode: 'entra',
        azure_entra_tenant_id: 't',
        azure_entra_client_id: 'c',
        azure_entra_client_secret: 's',
      },
      { kind: 'entra', scope, credentials: { from: 'client', tenantId: 't', clientId: 'c', clientSecret: 's' } },
    ],
  ])('of %j', (fields, expected) => {
    expect<unknown>(authentication(fields)).toEqual(expected);
  });

  test('by the gateway itself is for model services of Azure alone', () => {
    const fields = { azure_auth_mode: 'managed', azure_entra_scope: 'https://other/.default' };
    expect(() => authentication(fields)).toThrow('must name a model service');
  });

  test('in a mode that is none is refused', () => {
    expect(() => authentication({ azure_auth_mode: 'magic' })).toThrow('azure_auth_mode must be');
  });

  test('with a key shows it only where no identity is asked for', () => {
    const headers = (fields: object) => azureOpenAi.headers(callFacts({ credential: 'k', fields: { ...fields } }));
    expect(headers({})).toEqual({ 'api-key': 'k' });
    expect(headers({ azure_auth_mode: 'managed' })).toEqual({});
    expect(headers({ azure_ad_token: 'Bearer t' })).toEqual({ authorization: 'Bearer t' });
  });
});

describe('a chunk', () => {
  const translate = (chunk: object) =>
    withoutFilters.stream?.(callFacts()).event({ event: null, data: JSON.stringify(chunk) }) ?? [];

  test('with nothing of the filter is the very same event', () => {
    const event = { event: null, data: '{"choices":[{"delta":{"content":"hi"}}]}' };
    expect(withoutFilters.stream?.(callFacts()).event(event)[0]).toBe(event);
  });

  test('that only tells the verdict on the prompt is left out, one with usage is not', () => {
    expect(translate({ choices: [], prompt_filter_results: [] })).toEqual([]);
    expect(translate({ choices: [], prompt_filter_results: [], usage: { total_tokens: 1 } })).toEqual([
      { event: null, data: '{"choices":[],"usage":{"total_tokens":1}}' },
    ]);
  });

  test('loses the offsets of the filter that runs behind the text', () => {
    const choice = { index: 0, finish_reason: null, delta: {}, content_filter_offsets: {}, content_filter_results: {} };
    expect(translate({ choices: [choice] })).toEqual([
      { event: null, data: '{"choices":[{"index":0,"finish_reason":null,"delta":{}}]}' },
    ]);
  });

  test('whose text speaks of the filter keeps it', () => {
    const [event] = translate({
      choices: [{ delta: { content: 'content_filter_results' }, content_filter_results: {} }],
    });
    expect(event?.data).toBe('{"choices":[{"delta":{"content":"content_filter_results"}}]}');
  });
});
