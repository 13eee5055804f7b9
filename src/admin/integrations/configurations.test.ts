/** What each provider asks for, and what it does with the key. */
import { describe, expect, test } from 'bun:test';
import { ApiError } from '../../http/errors.ts';
import { checkConfigurations } from './configurations.ts';

const check = (provider: string, settings: Record<string, unknown>, trusted: string[] = []) =>
  checkConfigurations(provider, settings, { named: trusted, own: [] });

/** The paths that a refusal names; empty where there is none. */
function faults(provider: string, settings: Record<string, unknown>, trusted?: string[]): string[] {
  try {
    check(provider, settings, trusted);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.errors.map((fault) => fault.path.replace('configurations.', ''));
  }
}

const deployment = { azure_deployment_name: 'd', azure_api_version: '2024-10-21', azure_model_slug: 'gpt-4o' };
const azure = { azure_resource_name: 'r', azure_deployment_config: [deployment] };

describe('azure', () => {
  test('each way to authenticate asks for its own settings', () => {
    expect(faults('azure-openai', azure)).toEqual(['azure_auth_mode']);
    expect(faults('azure-openai', { ...azure, azure_auth_mode: 'magic' })).toEqual(['azure_auth_mode']);
    expect(faults('azure-openai', { ...azure, azure_auth_mode: 'default' })).toEqual([]);
    expect(faults('azure-openai', { ...azure, azure_auth_mode: 'managed' })).toEqual([]);
    expect(faults('azure-openai', { ...azure, azure_auth_mode: 'entra' })).toEqual([
      'azure_entra_tenant_id',
      'azure_entra_client_id',
      'azure_entra_client_secret',
    ]);
    expect(faults('azure-openai', { ...azure, azure_auth_mode: 'workload' })).toEqual([
      'azure_workload_tenant_id',
      'azure_workload_client_id',
    ]);
  });

  test('only the way that uses the key needs one', () => {
    expect(check('azure-openai', { ...azure, azure_auth_mode: 'default' }).needsKey).toBe(true);
    expect(check('azure-openai', { ...azure, azure_auth_mode: 'managed' }).needsKey).toBe(false);
    const foundry = { azure_auth_mode: 'default', azure_foundry_url: 'https://f.example.com' };
    expect(check('azure-ai', foundry).needsKey).toBe(false);
    expect(check('azure-ai', { ...foundry, is_key_required: true }).needsKey).toBe(true);
  });

  test('Azure AI asks for one of the settings that say where its models are', () => {
    const foundry = { azure_auth_mode: 'managed' };
    expect(faults('azure-ai', foundry)).toEqual(['azure_foundry_url']);
    expect(() => check('azure-ai', foundry)).toThrow('or instead of it custom_host or azure_endpoint_name');
    for (const place of [
      { azure_foundry_url: 'https://f.example.com' },
      { custom_host: 'https://f.example.com' },
      { azure_endpoint_name: 'e', azure_region: 'westeurope' },
    ]) {
      expect(faults('azure-ai', { ...foundry, ...place })).toEqual([]);
    }
  });

  test('exactly one deployment is the default', () => {
    const settings = (list: object[]) => ({ ...azure, azure_auth_mode: 'default', azure_deployment_config: list });
    const { configurations } = check('azure-openai', settings([deployment, deployment]));
    expect(configurations.azure_deployment_config).toMatchObject([{ is_default: true }, { is_default: false }]);
    const flagged = { ...deployment, is_default: true };
    expect(faults('azure-openai', settings([flagged, flagged]))).toEqual(['azure_deployment_config']);
    expect(faults('azure-openai', settings([]))).toEqual(['azure_deployment_config']);
    expect(faults('azure-openai', settings([{ ...deployment, azure_api_version: 'x'.repeat(31) }]))).toEqual([
      'azure_deployment_config.0.azure_api_version',
    ]);
  });
});

describe('aws', () => {
  test('each way to authenticate asks for its own settings', () => {
    expect(faults('bedrock', {})).toEqual(['aws_auth_type']);
    expect(faults('bedrock', { aws_auth_type: 'accessKey' })).toEqual([
      'aws_region',
      'aws_access_key_id',
      'aws_secret_access_key',
    ]);
    expect(faults('bedrock', { aws_auth_type: 'assumedRole', aws_region: 'eu-west-1' })).toEqual(['aws_role_arn']);
    expect(faults('bedrock', { aws_auth_type: 'serviceRole' })).toEqual([]);
    expect(faults('claude-platform-aws', { aws_auth_type: 'apiKey', aws_region: 'eu-west-1' })).toEqual([
      'anthropic_aws_workspace_id',
    ]);
    expect(check('bedrock', { aws_auth_type: 'apiKey', aws_region: 'eu-west-1' }).needsKey).toBe(true);
    expect(check('bedrock', { aws_auth_type: 'serviceRole' }).needsKey).toBe(false);
  });
});

test('vertex asks for a region, and for a project or a service account', () => {
  expect(faults('vertex-ai', { vertex_auth_type: 'basic' })).toEqual(['vertex_region', 'vertex_project_id']);
  const account = { type: 'service_account', private_key: 'x' };
  const settings = {
    vertex_auth_type: 'serviceAccount',
    vertex_region: 'global',
    vertex_service_account_json: account,
  };
  expect(faults('vertex-ai', settings)).toEqual([]);
  expect(check('vertex-ai', settings).needsKey).toBe(false);
});

test('what becomes part of a host name cannot end it', () => {
  const region = (aws_region: string) => faults('bedrock', { aws_auth_type: 'serviceRole', aws_region });
  for (const hostile of ['evil.example/', 'a#b', 'a@b', 'a:1', 'a?b', '.a', '', 'a b']) {
    expect(region(hostile)).toEqual(['aws_region']);
  }
  expect(faults('cortex', { snowflake_account: 'x.evil.com/' })).toEqual(['snowflake_account']);
});

test('every address is held to the rules of addresses', () => {
  expect(faults('openai', { custom_host: 'http://192.168.0.1' })).toEqual(['custom_host']);
  expect(faults('openai', { custom_host: 'http://192.168.0.1' }, ['192.168.0.1'])).toEqual([]);
  expect(faults('huggingface', { huggingface_base_url: 'http://[::1]/' })).toEqual(['huggingface_base_url']);
  const foundry = { azure_auth_mode: 'managed', azure_foundry_url: 'http://metadata.google.internal' };
  expect(faults('azure-ai', foundry)).toEqual(['azure_foundry_url']);
});

test('settings that a rule does not know pass, null takes one away, and the wrong type is named', () => {
  expect(check('openai', { anything: 'goes', openai_project: null }).configurations).toEqual({ anything: 'goes' });
  expect(faults('anthropic', { anthropic_inspect_stream_for_overloaded_error: 'yes' })).toEqual([
    'anthropic_inspect_stream_for_overloaded_error',
  ]);
  expect(faults('openai', { custom_headers: { 'x-a': 'line\nbreak' } })).toEqual(['custom_headers.x-a']);
});
