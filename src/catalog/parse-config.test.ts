/** Which configs are accepted, saved or sent along, and what is said about the others. */
import { describe, expect, test } from 'bun:test';
import { type Json, when } from '../../test/plans.ts';
import { parseConfig } from './parse-config.ts';

const a = { name: 'a', provider: '@a' };
const b = { name: 'b', provider: '@b' };
const routed = (strategy: Json, more: Json = {}): Json => ({ strategy, targets: [a, b], ...more });
const hasPlan = { 'metadata.plan': { $exists: true } };

const faultsOf = (value: unknown, mode: 'saved' | 'inline' = 'saved'): [string, string][] => {
  const result = parseConfig(value, mode);
  return result.ok ? [] : result.errors.map(({ path, message }) => [path, message]);
};
const pathsOf = (value: unknown, mode: 'saved' | 'inline' = 'saved') => faultsOf(value, mode).map(([path]) => path);
const accepted = (value: unknown, mode: 'saved' | 'inline' = 'saved') => {
  const result = parseConfig(value, mode);
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result;
};

describe('a config says something', () => {
  test.each<[string, Json]>([
    ['provider and api_key', { provider: 'openai', api_key: 'k' }],
    ['provider and custom_host', { provider: 'openai', custom_host: 'https://h.example/v1' }],
    ['a saved provider', { provider: '@openai' }],
    ['a saved provider and a model', { provider: '@openai/gpt-4o' }],
    ['virtual_key', { virtual_key: 'openai-x' }],
    ['provider beside virtual_key', { provider: 'openai', virtual_key: 'openai-x' }],
    ['strategy and targets', routed({ mode: 'fallback' })],
    ['cache', { cache: { mode: 'simple' } }],
    ['cache as a word', { cache: 'semantic' }],
    ['cache switched off', { cache: 'DISABLED' }],
    ['retry', { retry: { attempts: 2 } }],
    ['prompt_id', { prompt_id: 'p' }],
    ['forward_headers', { forward_headers: ['x-team'] }],
    ['request_timeout', { request_timeout: 5_000 }],
    ['first_token_timeout', { first_token_timeout: 5_000 }],
    ['stream_idle_timeout', { stream_idle_timeout: 5_000 }],
    ['an AWS key pair', { provider: 'bedrock', aws_access_key_id: 'i', aws_secret_access_key: 's' }],
    ['Vertex with a project', { provider: 'vertex-ai', vertex_region: 'r', vertex_project_id: 'p' }],
    ['Vertex with an account', { provider: 'vertex-ai', vertex_region: 'r', vertex_service_account_json: { k: 1 } }],
    ['Azure AI', { provider: 'azure-ai', azure_foundry_url: 'https://f.example' }],
    ['Azure OpenAI by mode', { provider: 'azure-openai', azure_auth_mode: 'managed' }],
    ['input_guardrails', { input_guardrails: ['g'] }],
    ['output_guardrails', { output_guardrails: [{ 'default.contains': { words: ['x'] }, deny: true }] }],
    ['before_request_hooks', { before_request_hooks: [{ id: 'h', checks: [{ id: 'default.wordCount' }] }] }],
    ['after_request_hooks', { after_request_hooks: [{ id: 'h' }] }],
    ['input_mutators', { input_mutators: [{ 'default.addPrefix': { prefix: 'x' } }] }],
    ['passthrough', { passthrough: true }],
    ['default_params', { default_params: { n: 1 } }],
    ['override_params', { override_params: { n: 1 } }],
    ['drop_params', { drop_params: ['tools[*].strict'] }],
    ['fetch_integrated_models', { fetch_integrated_models: true }],
    ['azure_entra_scope', { azure_entra_scope: 's' }],
    ['anthropic_beta', { anthropic_beta: 'b' }],
    ['a provider without credentials', { provider: 'ollama' }],
    ['another one', { provider: 'triton' }],
  ])('%s', (_group, config) => {
    for (const mode of ['saved', 'inline'] as const) expect(faultsOf(config, mode)).toEqual([]);
  });

  test.each<[string, Json, string[]]>([
    ['nothing', {}, ['']],
    ['a raw provider alone', { provider: 'openai' }, ['']],
    ['a credential alone', { api_key: 'k' }, ['']],
    ['half an AWS key pair', { provider: 'bedrock', aws_access_key_id: 'i' }, ['']],
    [
      'a name and a weight',
      { strategy: { mode: 'loadbalance' }, targets: [a, { name: 'x', weight: 1 }] },
      ['targets[1]'],
    ],
    ['Vertex without a region', { provider: 'vertex-ai', api_key: 'k', vertex_project_id: 'p' }, ['vertex_region']],
    ['Vertex with a region alone', { provider: 'vertex-ai', api_key: 'k', vertex_region: 'r' }, ['vertex_region']],
  ])('but %s does not', (_case, config, paths) => {
    for (const mode of ['saved', 'inline'] as const) expect(pathsOf(config, mode)).toEqual(paths);
  });

  test('a provider that the installation can call without a credential needs none', () => {
    const needsCredential = (provider: string) => provider !== 'sandbox';
    expect(parseConfig({ provider: 'sandbox' }, 'saved', { needsCredential }).ok).toBe(true);
    expect(parseConfig({ provider: 'openai' }, 'saved', { needsCredential }).ok).toBe(false);
  });
});

describe('an unknown key', () => {
  const config = {
    retry: { attempts: 1, atempts: 2 },
    strategy: { mode: 'conditional', conditions: [{ ...when(hasPlan, 'a'), els: 'b' }], default: 'a', stick: 1 },
    targets: [
      a,
      { ...b, wieght: 1, cb_config: { failure_threshold: 1, cooldown_interval: 30_000, failureThreshold: 2 } },
    ],
    tragets: [],
  };
  const unknown = [
    'retry.atempts',
    'strategy.conditions[0].els',
    'strategy.stick',
    'targets[1].cb_config.failureThreshold',
    'targets[1].wieght',
    'tragets',
  ];

  test('is refused with its path when the config is saved', () => {
    expect(faultsOf(config).toSorted()).toEqual(unknown.map((path) => [path, 'is not a known field']));
  });

  test('is dropped and named when the config comes with a request', () => {
    const original = structuredClone(config);
    const result = accepted(config, 'inline');
    expect(result.ignoredKeys.toSorted()).toEqual(unknown);
    expect(result.config.targets?.[1]).toEqual({
      ...b,
      cb_config: { failure_threshold: 1, cooldown_interval: 30_000 },
    });
    expect(config).toEqual(original);
  });

  test('does not hide what else is wrong with an inline config', () => {
    expect(pathsOf({ nope: 1, retry: { attempts: -1, nope: 2 } }, 'inline')).toEqual(['retry.attempts']);
  });

  test('may be the camelCase twin of a known one', () => {
    expect(pathsOf({ requestTimeout: 1, request_timeout: 2 })).toEqual(['requestTimeout']);
  });

  test('may be a name of the language', () => {
    const hostile: unknown = JSON.parse(
      '{"retry": {"attempts": 1}, "__proto__": {"provider": "@x"}, "constructor": 1}',
    );
    expect(pathsOf(hostile).toSorted()).toEqual(['__proto__', 'constructor']);
    expect(accepted(hostile, 'inline').config.provider).toBeUndefined();
  });
});

describe('a config is refused', () => {
  const breaker = { failure_threshold: 3, cooldown_interval: 30_000 };

  test.each<[string, unknown, string[]]>([
    ['that is no object', [a], ['']],
    ['that is null', null, ['']],
    ['that is a text', '@openai', ['']],
    [
      'with a negative weight',
      routed({ mode: 'loadbalance' }, { targets: [{ ...a, weight: -1 }] }),
      ['targets[0].weight'],
    ],
    [
      'with an endless weight',
      routed({ mode: 'loadbalance' }, { targets: [{ ...a, weight: Infinity }] }),
      ['targets[0].weight'],
    ],
    [
      'with a weight that is no number',
      routed({ mode: 'loadbalance' }, { targets: [{ ...a, weight: '1' }] }),
      ['targets[0].weight'],
    ],
    ['with an unknown mode', routed({ mode: 'random' }), ['strategy.mode']],
    ['with a strategy without a mode', routed({}), ['strategy.mode']],
    ['with a strategy without targets', { strategy: { mode: 'fallback' } }, ['targets']],
    ['with a strategy and no target in it', { strategy: { mode: 'single' }, targets: [] }, ['targets']],
    [
      'with two targets of one name',
      { strategy: { mode: 'fallback' }, targets: [a, { ...b, name: 'a' }] },
      ['targets[1].name'],
    ],
    [
      'with a status that is none',
      routed({ mode: 'fallback', on_status_codes: [42] }),
      ['strategy.on_status_codes[0]'],
    ],
    ['in the old form', { strategy: { mode: 'fallback' }, options: [a] }, ['options']],
    ['with default guardrails', { ...a, default_input_guardrails: ['g'] }, ['default_input_guardrails']],
    ['with default output guardrails', { ...a, default_output_guardrails: ['g'] }, ['default_output_guardrails']],
    ['with a nameless saved provider', { provider: '@' }, ['provider']],
    ['with a saved provider of no slug', { provider: '@/gpt-4o' }, ['provider']],
    ['with a timeout of zero', { request_timeout: 0 }, ['request_timeout']],
    ['with a timeout in parts', { request_timeout: 1.5 }, ['request_timeout']],
    ['with negative attempts', { retry: { attempts: -1 } }, ['retry.attempts']],
    ['with a cache without a mode', { cache: { max_age: 60 } }, ['cache.mode']],
    ['with an unknown cache mode', { cache: 'fuzzy' }, ['cache.mode']],
    ['with a path that is none', { drop_params: ['a', 'a..b'] }, ['drop_params[1]']],
    ['with a host that is no URL', { ...a, custom_host: 'h.example' }, ['custom_host']],
    ['with a host of another scheme', { ...a, custom_host: 'ftp://h.example' }, ['custom_host']],
    [
      'with a breaker without a threshold',
      { ...a, cb_config: { cooldown_interval: 30_000 } },
      ['cb_config.failure_threshold'],
    ],
    [
      'with a breaker without a cooldown',
      { ...a, cb_config: { failure_threshold: 1 } },
      ['cb_config.cooldown_interval'],
    ],
    [
      'with too short a cooldown',
      { ...a, cb_config: { ...breaker, cooldown_interval: 29_999 } },
      ['cb_config.cooldown_interval'],
    ],
    [
      'with a breaker at no failure',
      { ...a, cb_config: { ...breaker, failure_threshold: 0 } },
      ['cb_config.failure_threshold'],
    ],
    [
      'with more than every request failing',
      { ...a, cb_config: { ...breaker, failure_threshold_percentage: 101 } },
      ['cb_config.failure_threshold_percentage'],
    ],
    [
      'with a faulty breaker in its strategy',
      routed({ mode: 'fallback', cb_config: {} }),
      ['strategy.cb_config.cooldown_interval'],
    ],
    ['sticky on nothing', routed({ mode: 'loadbalance', sticky: { enabled: true } }), ['strategy.sticky.hash_fields']],
    [
      'sticky on what no request has',
      routed({ mode: 'loadbalance', sticky: { enabled: true, hash_fields: ['user'] } }),
      ['strategy.sticky.hash_fields[0]'],
    ],
    ['with metadata that is no text', { ...a, metadata: { n: 1 } }, ['metadata.n']],
    ['with a provider field of the wrong type', { ...a, vertex_region: 5 }, ['vertex_region']],
    [
      'deep in its targets',
      routed({ mode: 'single' }, { targets: [routed({ mode: 'single' }, { targets: [{ ...a, retry: 3 }] })] }),
      ['targets[0].targets[0].retry'],
    ],
  ])('%s', (_case, config, paths) => {
    for (const mode of ['saved', 'inline'] as const) expect(pathsOf(config, mode)).toEqual(paths);
  });

  test('in the old form with a word about the new one', () => {
    expect(faultsOf({ options: [a] })).toEqual([
      ['options', 'is the old form: write the options as targets, beside a strategy'],
    ]);
  });

  test('when it is nested without end, without walking it', () => {
    const deep = `${'{"targets":['.repeat(20_000)}${']}'.repeat(20_000)}`;
    expect(faultsOf(JSON.parse(deep), 'inline')).toEqual([['', 'is nested deeper than 100 levels']]);
  });

  test('when the installation may not call its host', () => {
    const config = { strategy: { mode: 'single' }, targets: [{ ...a, custom_host: 'http://10.0.0.5/v1' }] };
    const faultOfCustomHost = (url: string) => (url.includes('10.0.0.5') ? 'is a private address' : null);
    expect(parseConfig(config, 'inline', { faultOfCustomHost })).toEqual({
      ok: false,
      errors: [{ path: 'targets[0].custom_host', message: 'is a private address' }],
    });
  });
});

describe('targets without a strategy', () => {
  const config = { ...a, targets: [b] };

  test('are refused when saved, and named as ignored when inline', () => {
    expect(pathsOf(config)).toEqual(['targets']);
    expect(accepted(config, 'inline').ignoredKeys).toEqual(['targets']);
  });

  test('and without a provider are used where there is one, and refused where there are several', () => {
    for (const mode of ['saved', 'inline'] as const) {
      expect(accepted({ targets: [a] }, mode).ignoredKeys).toEqual([]);
      expect(pathsOf({ targets: [a, b] }, mode)).toEqual(['strategy.mode']);
      expect(pathsOf({ ...routed({ mode: 'single' }), targets: [{ targets: [a, b] }] }, mode)).toEqual([
        'targets[0].strategy.mode',
      ]);
    }
  });
});

describe('a conditional strategy', () => {
  const conditions = [when(hasPlan, 'a')];
  const named = (more: Json): Json => routed({ mode: 'conditional', ...more });

  test.each<[string, Json, string[], string[]]>([
    ['is complete with conditions and a default', named({ conditions, default: 'b' }), [], []],
    ['needs a default only when it is saved', named({ conditions }), ['strategy.default'], []],
    ['needs conditions', named({ default: 'b' }), ['strategy.conditions'], ['strategy.conditions']],
    [
      'needs at least one condition',
      named({ conditions: [], default: 'b' }),
      ['strategy.conditions'],
      ['strategy.conditions'],
    ],
    [
      'names siblings in its conditions',
      named({ conditions: [...conditions, when(hasPlan, 'c')], default: 'b' }),
      ['strategy.conditions[1].then'],
      ['strategy.conditions[1].then'],
    ],
    ['names a sibling as its default', named({ conditions, default: 'c' }), ['strategy.default'], ['strategy.default']],
    [
      'does not reach below its own targets',
      {
        strategy: { mode: 'conditional', conditions, default: 'x' },
        targets: [a, { ...routed({ mode: 'single' }), targets: [{ ...b, name: 'x' }] }],
      },
      ['strategy.default'],
      ['strategy.default'],
    ],
  ])('%s', (_rule, config, whenSaved, whenInline) => {
    expect(pathsOf(config)).toEqual(whenSaved);
    expect(pathsOf(config, 'inline')).toEqual(whenInline);
  });
});

describe('passthrough', () => {
  const values: Json = {
    strategy: { mode: 'single' },
    targets: [a],
    override_params: { n: 1 },
    input_guardrails: ['g'],
    output_guardrails: ['g'],
    before_request_hooks: [{ id: 'h' }],
    after_request_hooks: [{ id: 'h' }],
  };

  test('of a whole config excludes routing, overrides and guardrails, each by its path', () => {
    expect(pathsOf({ passthrough: true, ...values }).toSorted()).toEqual(Object.keys(values).toSorted());
    for (const [field, value] of Object.entries(values)) {
      expect(pathsOf({ passthrough: true, [field]: value })).toContain(field);
    }
  });

  test('of a target excludes only routing', () => {
    const target = { passthrough: true, override_params: { n: 1 }, input_guardrails: ['g'] };
    expect(pathsOf({ strategy: { mode: 'fallback' }, targets: [target, a] })).toEqual([]);
    expect(
      pathsOf({ strategy: { mode: 'fallback' }, targets: [{ ...target, strategy: { mode: 'single' }, targets: [a] }] }),
    ).toEqual(['targets[0].strategy', 'targets[0].targets']);
  });

  test('allows the settings that do not change the request, and nothing is excluded when it is off', () => {
    const settings = {
      name: 'n',
      weight: 1,
      retry: { attempts: 1 },
      cache: 'simple',
      request_timeout: 1,
      custom_host: 'https://h.example',
      cb_config: { failure_threshold: 1, cooldown_interval: 30_000 },
      default_params: { n: 1 },
      drop_params: ['n'],
    };
    expect(pathsOf({ passthrough: true, ...settings })).toEqual([]);
    expect(pathsOf({ passthrough: false, ...values })).toEqual([]);
  });
});

describe('forward_headers', () => {
  test('takes names, pairs and a map, and writes names in lower case', () => {
    const forwarded = (value: unknown) => accepted({ forward_headers: value }).config.forward_headers;
    expect(forwarded(['X-Team', { from: 'X-A', to: 'x-b' }])).toEqual([
      { from: 'x-team', to: 'x-team' },
      { from: 'x-a', to: 'x-b' },
    ]);
    expect(forwarded({ 'X-Team': 'x-group' })).toEqual([{ from: 'x-team', to: 'x-group' }]);
  });

  test.each([
    'x-gw-forward-headers',
    'X-GW-Api-Key',
    'metadata-flavor',
    'X-Aws-Ec2-Metadata-Token',
    'x-google-metadata-request',
    'host',
    'Content-Length',
    'transfer-encoding',
    'not a name',
    '',
  ])('refuses %p on either side', (name) => {
    expect(pathsOf({ forward_headers: ['x-ok', name] })[0]).toBe('forward_headers[1].from');
    expect(pathsOf({ forward_headers: [{ from: 'x-ok', to: name }] })).toEqual(['forward_headers[0].to']);
  });
});

test('a config in camelCase is read like one in snake_case', () => {
  const { config } = accepted({
    strategy: { mode: 'fallback', onStatusCodes: [429], cbConfig: { failure_threshold: 1, cooldown_interval: 30_000 } },
    targets: [{ virtualKey: 'a', requestTimeout: 5, overrideParams: { maxTokens: 1 } }],
    beforeRequestHooks: [{ id: 'h', checks: [{ id: 'c', isEnabled: false }] }],
  });
  expect(config.strategy?.on_status_codes).toEqual([429]);
  expect(config.targets).toEqual([{ virtual_key: 'a', request_timeout: 5, override_params: { maxTokens: 1 } }]);
  expect(config.before_request_hooks).toEqual([{ id: 'h', checks: [{ id: 'c', isEnabled: false }] }]);
});
