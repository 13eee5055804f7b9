/** Configs made into plans: targets, providers, strategies and breakers. */
import { describe, expect, test } from 'bun:test';
import { fallback, fieldsLike, type Json, leafOf, leavesOf, planIdentity, planOf, when } from '../../test/plans.ts';
import { compileConfig, parseConfig, planForProvider } from './compile.ts';
import { queryHolds, type RequestFacts } from './conditions.ts';
import type { LeafProvider, PlanNode, Strategy } from './plan.ts';

const a = { provider: '@a' };

const strategyOf = (node: PlanNode): Strategy => {
  if (node.kind !== 'strategy') throw new Error('not a strategy');
  return node;
};

describe('a plan', () => {
  test('carries who it is, and what the root says for the whole request', () => {
    const plan = planOf({ fetch_integrated_models: true, metadata: { team: 'x' }, id: 'chosen', nope: 1 });
    expect(plan).toMatchObject({
      ...planIdentity,
      fetchIntegratedModels: true,
      passthrough: false,
      metadata: { team: 'x' },
      ignoredKeys: ['nope'],
      warnings: [],
    });
    expect(planOf({ passthrough: true })).toMatchObject({ passthrough: true, root: { passthrough: true } });
  });

  test('names its nodes by path, with the index of the config', () => {
    const plan = planOf({
      strategy: { mode: 'loadbalance' },
      targets: [fallback([a, { provider: '@b', name: 'second' }]), { provider: '@c', weight: 3 }],
    });
    expect(plan.root.path).toBe('config');
    expect(leavesOf(plan.root).map(({ path, name, weight }) => [path, name, weight])).toEqual([
      ['config.targets[0].targets[0]', null, 1],
      ['config.targets[0].targets[1]', 'second', 1],
      ['config.targets[1]', null, 3],
    ]);
  });

  test('is frozen down to the parameters, and leaves the config as it was', () => {
    const config = { override_params: { tools: [{ strict: true }] }, before_request_hooks: [{ id: 'h' }] };
    const parsed = parseConfig(fallback([a], config), 'saved');
    if (!parsed.ok) throw new Error('refused');
    const plan = compileConfig(parsed.config, planIdentity);
    const everything = (value: unknown): unknown[] =>
      typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(everything)] : [];
    for (const part of everything(plan.root)) expect(Object.isFrozen(part) || part instanceof Set).toBe(true);
    expect(Object.isFrozen(plan)).toBe(true);
    expect(Object.isFrozen(parsed.config.override_params)).toBe(false);
  });

  test('without a config is one leaf with nothing set', () => {
    const plan = planForProvider({ from: 'saved', slug: 'a', model: null });
    expect(plan).toMatchObject({ saved: null, passthrough: false, ignoredKeys: [] });
    expect(plan.root).toMatchObject({
      kind: 'leaf',
      path: 'config',
      provider: { from: 'saved', slug: 'a', model: null },
      breaker: null,
      retry: null,
      cache: null,
      requestTimeout: null,
      strictOpenAiCompliance: true,
    });
  });

  test('of a node with a provider and without a strategy is a leaf, whatever else it has', () => {
    expect(planOf({ ...a, targets: [{ provider: '@b' }] }).root.kind).toBe('leaf');
  });

  test('of a lone target without a strategy is that target', () => {
    expect(planOf({ targets: [{ provider: '@b' }], retry: { attempts: 2 } }).root).toMatchObject({
      kind: 'strategy',
      mode: 'single',
      children: [{ path: 'config.targets[0]', provider: { from: 'saved', slug: 'b' }, retry: { attempts: 2 } }],
    });
  });
});

describe('the provider of a leaf', () => {
  const saved = (slug: string, model: string | null = null) => ({ from: 'saved', slug, model }) as const;

  test.each<[string, Json, LeafProvider]>([
    ['saved', { provider: '@a' }, saved('a')],
    ['saved, with a model', { provider: '@a/gpt-4o' }, saved('a', 'gpt-4o')],
    ['saved, with a model of many signs', { provider: '@a/org/m:1@2' }, saved('a', 'org/m:1@2')],
    [
      'inline',
      { provider: 'openai', api_key: 'k' },
      { from: 'inline', provider: 'openai', credential: 'k', fields: {} },
    ],
    [
      'inline without a credential',
      { provider: 'ollama' },
      { from: 'inline', provider: 'ollama', credential: null, fields: {} },
    ],
    ['a virtual key', { virtual_key: 'v' }, saved('v')],
    ['a virtual key written like a slug', { virtual_key: '@v' }, saved('v')],
    ['a virtual key beside a raw name', { provider: 'openai', virtual_key: 'v' }, saved('v')],
    ['saved, before a virtual key', { provider: '@a', virtual_key: 'v' }, saved('a')],
    ['saved, before a prompt', { provider: '@a', prompt_id: 'p' }, saved('a')],
    ['a prompt', { prompt_id: 'p', override_params: { model: '@b/m' } }, { from: 'request' }],
    ['named by the overriding model', { override_params: { model: '@b/m/n' } }, saved('b', 'm/n')],
    ['saved, before the overriding model', { provider: '@a', override_params: { model: '@b/m' } }, saved('a')],
    [
      'named by the overriding model of a passthrough target',
      { passthrough: true, override_params: { model: '@b/m' } },
      saved('b', 'm'),
    ],
    ['a plain overriding model', { override_params: { model: 'm' } }, { from: 'request' }],
    ['the request', { retry: { attempts: 1 } }, { from: 'request' }],
    ['the request, for a passthrough target', { passthrough: true }, { from: 'request' }],
  ])('is %s', (_case, target, provider) => {
    expect(leafOf(fallback([target])).provider).toEqual(provider);
  });

  test('may be named by an overriding model from above', () => {
    expect(leafOf(fallback([fallback([a])])).provider).toEqual(saved('a'));
    expect(leafOf(fallback([{ name: 'x', cache: 'simple' }], { override_params: { model: '@b/m' } })).provider).toEqual(
      saved('b', 'm'),
    );
  });

  test('takes the fields of its target along: inside an inline provider, beside any other', () => {
    const azure = { azure_auth_mode: 'entra', azure_entra_client_id: 'c', deployments: [{ deployment_id: 'd' }] };
    const inline = leafOf({ provider: 'azure-openai', ...azure, azure_entra_scope: 's' });
    expect(inline.provider).toMatchObject({ from: 'inline', credential: null, fields: azure });
    expect(inline.fields).toEqual({ azure_entra_scope: 's' });
    expect(leafOf({ provider: '@a', openai_project: 'p', anthropic_beta: 'b' }).fields).toEqual({
      openai_project: 'p',
      anthropic_beta: 'b',
    });
    expect(leafOf({ retry: {}, openai_project: 'p' }).fields).toEqual({ openai_project: 'p' });
  });

  test('keeps prompt and passthrough as marks', () => {
    expect(leafOf({ prompt_id: 'p' })).toMatchObject({ promptId: 'p', passthrough: false });
    expect(leafOf(fallback([{ passthrough: true }]))).toMatchObject({ promptId: null, passthrough: true });
  });
});

describe('a strategy', () => {
  const rootOf = (strategy: Json, more: Json = {}): Strategy =>
    strategyOf(
      planOf({
        strategy,
        targets: [
          { ...a, name: 'a' },
          { provider: '@b', name: 'b', weight: 0 },
        ],
        ...more,
      }).root,
    );

  test.each<[string, Json, Json, Partial<Record<keyof Strategy, unknown>>]>([
    [
      'fallback goes on after any failure, also inside a stream',
      { mode: 'fallback' },
      {},
      { onStatus: null, recoverStreams: true },
    ],
    [
      'fallback with statuses',
      { mode: 'fallback', on_status_codes: [246, 429] },
      {},
      { onStatus: new Set([246, 429]) },
    ],
    ['fallback with none', { mode: 'fallback', on_status_codes: [] }, {}, { onStatus: new Set() }],
    ['statuses in their old place', { mode: 'fallback' }, { on_status_codes: [500] }, { onStatus: new Set([500]) }],
    [
      'the new place first',
      { mode: 'fallback', on_status_codes: [429] },
      { on_status_codes: [500] },
      { onStatus: new Set([429]) },
    ],
    [
      'streams are not recovered when told so',
      { mode: 'fallback', recover_streams: false },
      {},
      { recoverStreams: false },
    ],
    ['nor by other modes', { mode: 'single', recover_streams: true }, {}, { recoverStreams: false, onStatus: null }],
    [
      'sticky',
      { mode: 'loadbalance', sticky: { enabled: true, hash_fields: ['metadata.u'] } },
      {},
      { sticky: { fields: ['metadata.u'], ttlSeconds: 3_600 } },
    ],
    [
      'sticky with its time',
      { mode: 'loadbalance', sticky: { enabled: true, hash_fields: ['params.user', 'headers.x-a'], ttl: 60 } },
      {},
      { sticky: { fields: ['params.user', 'headers.x-a'], ttlSeconds: 60 } },
    ],
    [
      'sticky switched off',
      { mode: 'loadbalance', sticky: { enabled: false, hash_fields: ['metadata.u'] } },
      {},
      { sticky: null },
    ],
    [
      'sticky of another mode',
      { mode: 'fallback', sticky: { enabled: true, hash_fields: ['metadata.u'] } },
      {},
      { sticky: null },
    ],
  ])('%s', (_rule, strategy, more, expected) => {
    expect(fieldsLike(rootOf(strategy, more), expected)).toEqual(expected);
  });

  test('keeps weights, zero included', () => {
    expect(rootOf({ mode: 'loadbalance' }).children.map((child) => child.weight)).toEqual([1, 0]);
  });

  test('is named and weighed like any target', () => {
    const root = strategyOf(
      planOf({ strategy: { mode: 'loadbalance' }, targets: [{ ...fallback([a]), name: 'n', weight: 4 }] }).root,
    );
    expect(root.children[0]).toMatchObject({ kind: 'strategy', path: 'config.targets[0]', name: 'n', weight: 4 });
  });

  test('conditional: queries in order, with the index of the child they choose', () => {
    const facts: RequestFacts = {
      metadata: { plan: 'paid' },
      params: {},
      pathname: '/v1/x',
      headers: new Headers(),
      kind: 'proxy',
    };
    const conditions = [when({ 'metadata.plan': 'free' }, 'b'), when({ 'metadata.plan': 'paid' }, 'a')];
    const root = rootOf({ mode: 'conditional', conditions, default: 'b' });
    expect(root.conditions.map(({ query, child }) => [queryHolds(query, facts), child])).toEqual([
      [false, 1],
      [true, 0],
    ]);
    expect(root.defaultChild).toBe(1);
    expect(rootOf({ mode: 'conditional', conditions }).defaultChild).toBeNull();
  });

  test('conditional: what can never hold is a warning of the plan', () => {
    const strategy = { mode: 'conditional', conditions: [when({ 'metadata.a.b': 1 }, 'a')], default: 'a' };
    expect(planOf(fallback([{ strategy, targets: [{ ...a, name: 'a' }] }])).warnings).toEqual([
      'config.targets[0].strategy.conditions[0]: metadata.a.b names nothing in a request',
    ]);
  });
});

describe('a breaker', () => {
  const own = { failure_threshold: 3, cooldown_interval: 60_000 };
  const rule = {
    failureThreshold: 3,
    failurePercentage: null,
    minimumRequests: 1,
    cooldownMs: 60_000,
    failureStatus: null,
  };
  const standard = { ...rule, failureThreshold: 5, cooldownMs: 30_000 };
  const breakers = (config: Json) => {
    const walk = (node: PlanNode): unknown[] => [
      node.breaker,
      ...(node.kind === 'strategy' ? node.children.flatMap(walk) : []),
    ];
    return walk(planOf(config).root);
  };
  const conditional = (target: Json): Json => ({
    strategy: {
      mode: 'conditional',
      default: 'x',
      conditions: [when({}, 'x')],
    },
    targets: [{ ...target, name: 'x' }],
  });

  test('has every field of cb_config', () => {
    const all = {
      failure_threshold_percentage: 50,
      minimum_requests: 10,
      cooldown_interval: 30_000,
      failure_status_codes: [429],
    };
    expect(breakers(fallback([{ ...a, cb_config: all }]))[1]).toEqual({
      failureThreshold: null,
      failurePercentage: 50,
      minimumRequests: 10,
      cooldownMs: 30_000,
      failureStatus: new Set([429]),
    });
  });

  test.each<[string, Json, unknown[]]>([
    ['a leaf has its own', fallback([{ ...a, cb_config: own }]), [null, rule]],
    ['a leaf has that of its strategy', fallback([a], {}, { cb_config: own }), [null, rule]],
    ['a leaf has that of the config', fallback([a], { cb_config: own }), [null, rule]],
    [
      'its own comes first',
      fallback([{ ...a, cb_config: own }], {}, { cb_config: { ...own, failure_threshold: 9 } }),
      [null, rule],
    ],
    ['strategies hand it down', fallback([fallback([a])], { cb_config: own }), [null, rule, rule]],
    [
      'that of a strategy is for its children, not for itself',
      fallback([fallback([a], {}, { cb_config: own })]),
      [null, null, rule],
    ],
    ['a saved provider has one by default', fallback([a, { virtual_key: 'v' }]), [null, standard, standard]],
    ['so it is in loadbalance', { strategy: { mode: 'loadbalance' }, targets: [a] }, [null, standard]],
    ['and in single', { strategy: { mode: 'single' }, targets: [a] }, [null, standard]],
    [
      'other leaves have none by default',
      fallback([{ provider: 'openai', api_key: 'k' }, { passthrough: true }]),
      [null, null, null],
    ],
    ['a strategy has none by default', fallback([fallback([a])]), [null, null, standard]],
    ['the root is not judged', { ...a, cb_config: own }, [null]],
    ['children of a condition are not judged', conditional({ ...a, cb_config: own }), [null, null]],
    ['nor by what is inherited', { ...conditional(a), cb_config: own }, [null, null]],
    ['but those below them are', { ...conditional(fallback([a])), cb_config: own }, [null, null, rule]],
  ])('%s', (_rule, config, expected) => {
    expect(breakers(config)).toEqual(expected);
  });
});
