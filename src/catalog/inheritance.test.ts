/** What a target has of its own, and what it takes from those above it. */
import { describe, expect, test } from 'bun:test';
import { fallback, fieldsLike, type Json, leafOf, leavesOf, planOf } from '../../test/plans.ts';
import { shapeParameters } from './parameters.ts';
import type { CacheRule, Leaf } from './plan.ts';

const a = { provider: '@a' };

/** The one leaf of a tree of three levels, each with settings of its own. */
const inherited = (root: Json, middle: Json, leaf: Json): Leaf =>
  leafOf(fallback([fallback([{ ...a, ...leaf }], middle)], root));

describe('inheritance', () => {
  const headers = (...names: string[]) => names.map((name) => ({ from: name, to: name }));

  test.each<[string, Json, Json, Json, Partial<Record<keyof Leaf, unknown>>]>([
    [
      'override_params merge, the nearest key wins',
      { override_params: { top_p: 0.5, model: 'p' } },
      { override_params: { n: 1, model: 'q' } },
      { override_params: { model: 'x' } },
      { overrideParams: { top_p: 0.5, n: 1, model: 'x' } },
    ],
    [
      'override_params merge shallowly',
      { override_params: { m: { a: 1 } } },
      {},
      { override_params: { m: { b: 2 } } },
      { overrideParams: { m: { b: 2 } } },
    ],
    [
      'default_params merge, the nearest key wins',
      { default_params: { n: 1, top_p: 1 } },
      {},
      { default_params: { n: 2 } },
      { defaultParams: { n: 2, top_p: 1 } },
    ],
    [
      'drop_params add up, parents first',
      { drop_params: ['a'] },
      { drop_params: ['b'] },
      { drop_params: ['c'] },
      { dropParams: [['a'], ['b'], ['c']] },
    ],
    [
      'retry comes whole from the nearest',
      { retry: { attempts: 4, on_status_codes: [418], use_retry_after_header: true } },
      {},
      { retry: { attempts: 1 } },
      { retry: { attempts: 1, onStatus: new Set([429, 500, 502, 503, 504, 529]), useRetryAfter: false } },
    ],
    [
      'cache comes whole from the nearest',
      { cache: { mode: 'semantic', max_age: 600 } },
      { cache: 'simple' },
      {},
      { cache: { mode: 'simple', maxAgeSeconds: null, coalesce: false, threshold: null, verify: 0 } },
    ],
    ['DISABLED switches the cache off', { cache: 'simple' }, { cache: 'DISABLED' }, {}, { cache: null }],
    [
      'and it can be switched on again below',
      { cache: 'DISABLED' },
      {},
      { cache: 'simple' },
      { cache: { mode: 'simple', maxAgeSeconds: null, coalesce: false, threshold: null, verify: 0 } },
    ],
    ['request_timeout: nearest', { request_timeout: 1 }, { request_timeout: 2 }, {}, { requestTimeout: 2 }],
    [
      'first_token_timeout: nearest',
      { first_token_timeout: 1 },
      {},
      { first_token_timeout: 3 },
      { firstTokenTimeout: 3 },
    ],
    ['stream_idle_timeout: nearest', { stream_idle_timeout: 1 }, {}, {}, { streamIdleTimeout: 1 }],
    [
      'custom_host: nearest',
      { custom_host: 'https://a.example' },
      { custom_host: 'https://b.example' },
      {},
      { customHost: 'https://b.example' },
    ],
    [
      'forward_headers: nearest list',
      { forward_headers: ['x-a', 'x-b'] },
      {},
      { forward_headers: ['x-c'] },
      { forwardHeaders: headers('x-c') },
    ],
    ['an empty list is a list', { forward_headers: ['x-a'] }, {}, { forward_headers: [] }, { forwardHeaders: [] }],
    [
      'strict_open_ai_compliance: nearest',
      { strict_open_ai_compliance: false },
      { strict_open_ai_compliance: true },
      { strict_open_ai_compliance: false },
      { strictOpenAiCompliance: false },
    ],
    [
      'strict_open_ai_compliance: from above',
      { strict_open_ai_compliance: false },
      {},
      {},
      { strictOpenAiCompliance: false },
    ],
    ['strict_open_ai_compliance: true by default', {}, {}, {}, { strictOpenAiCompliance: true }],
    [
      'hooks: the nearest list replaces, for each phase',
      { before_request_hooks: [{ id: 'root' }], output_guardrails: ['root'] },
      { input_guardrails: ['middle'] },
      {},
      { hooks: { before: ['middle'], after: ['root'] } },
    ],
    [
      'hooks, guardrails and mutators of one object stand in this order',
      {},
      {},
      {
        input_mutators: [{ 'default.addPrefix': { prefix: 'x' } }, 'saved-mutator'],
        input_guardrails: ['g', { 'default.contains': { words: [] }, deny: true }],
        before_request_hooks: [{ id: 'h', type: 'guardrail' }],
        after_request_hooks: [{ id: 'i' }],
        output_guardrails: ['o'],
      },
      {
        hooks: {
          before: [
            { id: 'h', type: 'guardrail' },
            'g',
            { 'default.contains': { words: [] }, deny: true },
            { 'default.addPrefix': { prefix: 'x' }, type: 'mutator' },
            'saved-mutator',
          ],
          after: [{ id: 'i' }, 'o'],
        },
      },
    ],
    [
      'provider options: nearest',
      { anthropic_beta: 'a', azure_entra_scope: 's' },
      { anthropic_beta: 'b' },
      {},
      { fields: { anthropic_beta: 'b', azure_entra_scope: 's' } },
    ],
    [
      'metadata merge',
      { metadata: { a: '1', b: '1' } },
      {},
      { metadata: { b: '2' } },
      { metadata: { a: '1', b: '2' } },
    ],
    [
      'never: name, weight, provider, credential, fields, prompt, passthrough',
      { name: 'n', weight: 5, provider: 'openai', api_key: 'k', openai_project: 'p', prompt_id: 'q' },
      {},
      {},
      {
        name: null,
        weight: 1,
        provider: { from: 'saved', slug: 'a', model: null },
        fields: {},
        promptId: null,
        passthrough: false,
      },
    ],
  ])('%s', (_rule, root, middle, leaf, expected) => {
    expect(fieldsLike(inherited(root, middle, leaf), expected)).toEqual(expected);
  });

  test('of timeouts, on the example of the specification', () => {
    const plan = planOf({
      strategy: { mode: 'loadbalance' },
      request_timeout: 2_000,
      targets: [fallback([a, { ...a, request_timeout: 10_000 }], { request_timeout: 5_000 }), a],
    });
    expect(leavesOf(plan.root).map((leaf) => leaf.requestTimeout)).toEqual([5_000, 10_000, 2_000]);
  });

  test('of parameters, on the example of the specification', () => {
    const leaf = leafOf(
      fallback(
        [
          {
            default_params: { temperature: 1, max_tokens: 50 },
            override_params: { model: 'x' },
            drop_params: ['logprobs'],
          },
        ],
        { override_params: { top_p: 0.5, model: 'p' } },
      ),
    );
    expect(shapeParameters({ model: 'm', temperature: 0.2, logprobs: true }, leaf)).toEqual({
      model: 'x',
      temperature: 0.2,
      max_tokens: 50,
      top_p: 0.5,
    });
  });
});

describe('rules of a leaf', () => {
  test.each<[string, Json, Json]>([
    ['no attempts when none are given', {}, { attempts: 0 }],
    ['attempts as given', { attempts: 3 }, { attempts: 3 }],
    ['at most five', { attempts: 9 }, { attempts: 5 }],
    ['attempts as batches spell them', { max_attempts: 2 }, { attempts: 2 }],
    ['its own statuses', { attempts: 1, on_status_codes: [408] }, { onStatus: new Set([408]) }],
    ['no status at all', { attempts: 1, on_status_codes: [] }, { onStatus: new Set() }],
    ['the header', { attempts: 1, use_retry_after_header: true }, { useRetryAfter: true }],
    ['the header in its other spelling', { attempts: 1, use_retry_after_headers: true }, { useRetryAfter: true }],
  ])('retry: %s', (_rule, retry, expected) => {
    expect(fieldsLike(leafOf({ ...a, retry }).retry ?? {}, expected)).toEqual(expected);
  });

  test.each<[unknown, CacheRule | null]>([
    ['simple', { mode: 'simple', maxAgeSeconds: null, coalesce: false, threshold: null, verify: 0 }],
    [{ mode: 'semantic' }, { mode: 'semantic', maxAgeSeconds: null, coalesce: false, threshold: null, verify: 0 }],
    [
      { mode: 'simple', max_age: 3_600 },
      { mode: 'simple', maxAgeSeconds: 3_600, coalesce: false, threshold: null, verify: 0 },
    ],
    [
      { mode: 'simple', max_age: 1 },
      { mode: 'simple', maxAgeSeconds: 60, coalesce: false, threshold: null, verify: 0 },
    ],
    [
      { mode: 'simple', max_age: 7_776_000, coalesce: true },
      { mode: 'simple', maxAgeSeconds: 7_776_000, coalesce: true, threshold: null, verify: 0 },
    ],
    ['DISABLED', null],
    [{ mode: 'DISABLED' }, null],
  ])('cache %j', (cache, expected) => {
    expect(leafOf({ ...a, cache }).cache).toEqual(expected);
  });
});
