import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import fc from 'fast-check';
import { type Plane, savedProvider, startPlane } from '../../../test/gateway-deps.ts';
import * as openai from '../../../test/providers/openai.ts';
import {
  type Behaviour,
  json,
  type SimulatedProvider,
  startProvider,
  stream,
} from '../../../test/providers/simulated.ts';
import { HttpClient } from '../../wire/client/http-client.ts';
import { WireFault } from '../../wire/fault.ts';
import { draw } from './route.ts';

let plane: Plane;
let random = 0;
const simulated: Record<string, SimulatedProvider> = {};

beforeAll(async () => {
  plane = startPlane({ random: () => random });
  for (const slug of ['a', 'b', 'c']) {
    const provider = await startProvider(openai.says(`from ${slug}`));
    simulated[slug] = provider;
    plane.providers.set(slug, savedProvider(slug, { customHost: provider.url }));
  }
});
afterAll(async () => {
  await plane.stop();
  for (const provider of Object.values(simulated)) await provider.stop();
});
beforeEach(() => {
  random = 0;
  for (const provider of Object.values(simulated)) provider.calls.length = 0;
});
afterEach(() => {
  expect(plane.faults).toEqual([]);
});

const question = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Tell me.' }] };
const script = (slug: string, ...behaviours: Behaviour[]) => simulated[slug]?.script(...behaviours);
const status = (code: number) => (code < 300 ? openai.says('fine') : json(code, { error: { message: `${code}` } }));
const targets = (...slugs: string[]) => slugs.map((slug) => ({ provider: `@${slug}` }));
const asked = () => Object.values(simulated).map((provider) => provider.calls.length);

interface Told {
  status: number;
  path: string | null;
  records: string[];
}

const ask = async (config: string, body: object = question, headers: Record<string, string> = {}): Promise<Told> => {
  const response = await plane.call('/v1/chat/completions', body, { 'x-gw-config': config, ...headers });
  await response.text();
  const records = await plane.settled();
  return {
    status: response.status,
    path: response.headers.get('x-gw-last-used-option-index'),
    records: records.map(({ metrics }) => metrics.last_used_option_path),
  };
};

describe('fallback over A and B', () => {
  const rows: [codes: number[] | null, a: number, b: number | null, client: number, index: number, records: number][] =
    [
      [null, 200, null, 200, 0, 1],
      [null, 500, 200, 200, 1, 2],
      [null, 400, 200, 200, 1, 2],
      [null, 246, null, 246, 0, 1],
      [null, 446, 200, 200, 1, 2],
      [null, 500, 503, 503, 1, 2],
      [[429], 500, null, 500, 0, 1],
      [[429], 429, 500, 500, 1, 2],
      [[246], 246, 200, 200, 1, 2],
      [[], 500, null, 500, 0, 1],
    ];
  test.each(rows)('codes %p, A %p, B %p: the client gets %p of target %p with %p records', async (...row) => {
    const [codes, a, b, client, index, records] = row;
    script('a', a === 246 ? json(246, openai.completion('fine')) : status(a));
    script('b', status(b ?? 200));
    const strategy = { mode: 'fallback', ...(codes && { on_status_codes: codes }) };
    const told = await ask(plane.saveConfig({ strategy, targets: targets('a', 'b') }));
    expect({ ...told, records: told.records.length }).toEqual({
      status: client,
      path: `config.targets[${index}]`,
      records,
    });
    expect(asked()).toEqual([1, b === null ? 0 : 1, 0]);
  });

  test('a saved provider that has expired is a failed target like any other', async () => {
    script('b', status(200));
    plane.providers.set('spent', savedProvider('spent', { status: 'expired' }));
    const config = plane.saveConfig({ strategy: { mode: 'fallback' }, targets: targets('spent', 'b') });
    expect(await ask(config)).toEqual({
      status: 200,
      path: 'config.targets[1]',
      records: ['config.targets[0]', 'config.targets[1]'],
    });
  });

  test('an open target is left out, and the others keep their places', async () => {
    script('a', status(503));
    script('b', status(200));
    const cb_config = { failure_threshold: 1, cooldown_interval: 30_000 };
    const config = plane.saveConfig({ strategy: { mode: 'fallback', cb_config }, targets: targets('a', 'b') });
    await ask(config);
    expect(await ask(config)).toEqual({ status: 200, path: 'config.targets[1]', records: ['config.targets[1]'] });
  });

  test('a target without the endpoint is a failed target', async () => {
    plane.providers.set('claude', savedProvider('claude', { provider: 'anthropic' }));
    script('b', status(200));
    const config = plane.saveConfig({ strategy: { mode: 'fallback' }, targets: targets('claude', 'b') });
    expect(await ask(config)).toMatchObject({ status: 200, path: 'config.targets[1]' });
  });

  test('a strategy that has no target for the request counts as a failed child', async () => {
    script('b', status(200));
    const nobody = { strategy: { mode: 'loadbalance' }, targets: [{ provider: '@a', weight: 0 }] };
    const config = plane.saveConfig({ strategy: { mode: 'fallback' }, targets: [nobody, { provider: '@b' }] });
    expect(await ask(config)).toEqual({
      status: 200,
      path: 'config.targets[1]',
      records: ['config.targets[0]', 'config.targets[1]'],
    });
  });

  test('our own refusals do not open a breaker', async () => {
    plane.providers.set('limited', savedProvider('limited', { models: { allowAll: false, bySlug: new Map() } }));
    script('b', status(200));
    const config = plane.saveConfig({ strategy: { mode: 'fallback' }, targets: targets('limited', 'b') });
    for (let call = 0; call < 7; call++) expect((await ask(config)).records).toHaveLength(2);
  });

  test('that we may open no connection does not open a breaker', async () => {
    script('b', status(200));
    const { http } = plane.deps;
    const short = spyOn(http, 'call').mockImplementation((call, signal) =>
      call.url.startsWith(simulated.a?.url ?? '')
        ? Promise.reject(new WireFault('TooManyOpenFiles', 'none is left'))
        : HttpClient.prototype.call.call(http, call, signal),
    );
    const config = plane.saveConfig({ strategy: { mode: 'fallback' }, targets: targets('a', 'b') });
    for (let call = 0; call < 7; call++) expect((await ask(config)).records).toHaveLength(2);
    short.mockRestore();
  });
});

describe('nesting', () => {
  test('loadbalance over fallback: both tries are recorded under the same trace, with their paths', async () => {
    script('a', status(500));
    script('b', status(200));
    const inner = { strategy: { mode: 'fallback' }, targets: targets('a', 'b') };
    const config = plane.saveConfig({ strategy: { mode: 'loadbalance' }, targets: [inner, { provider: '@c' }] });
    const response = await plane.call('/v1/chat/completions', question, { 'x-gw-config': config });
    const records = await plane.settled();
    expect(records.map(({ metrics }) => [metrics.last_used_option_path, metrics.mode, metrics.trace_id])).toEqual([
      ['config.targets[0].targets[0]', 'fallback', response.headers.get('x-gw-trace-id') ?? ''],
      ['config.targets[0].targets[1]', 'fallback', response.headers.get('x-gw-trace-id') ?? ''],
    ]);
    const [first, last] = records.map(({ metrics }) => metrics);
    expect(first?.parent_span_id).toBe(last?.span_id ?? '');
    expect(first?.span_id).not.toBe(last?.span_id ?? '');
  });

  test('a stream that breaks in the inner fallback is taken up there, and then by the outer one', async () => {
    script('a', stream([openai.opening, openai.part('One')], 'cut'));
    script('b', stream([openai.opening, openai.part('One'), openai.part(' two')], 'cut'));
    script('c', openai.says('One', ' two', ' three'));
    const inner = { strategy: { mode: 'fallback' }, targets: targets('a', 'b') };
    const config = plane.saveConfig({ strategy: { mode: 'fallback' }, targets: [inner, { provider: '@c' }] });
    const response = await plane.call('/v1/chat/completions', { ...question, stream: true }, { 'x-gw-config': config });
    const text = await response.text();
    expect(text).toContain(' three');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect((await plane.settled()).map(({ metrics }) => metrics.last_used_option_path)).toEqual([
      'config.targets[0].targets[0]',
      'config.targets[0].targets[1]',
      'config.targets[1]',
    ]);
  });

  test('conditional: the first condition that holds chooses, then the default, then 400', async () => {
    for (const slug of ['a', 'b']) script(slug, status(200));
    const strategy = (more: object) => ({
      mode: 'conditional',
      conditions: [
        Object.fromEntries([
          ['query', { 'metadata.plan': 'paid' }],
          ['then', 'good'],
        ]),
      ],
      ...more,
    });
    const named = [
      { name: 'good', provider: '@a' },
      { name: 'plain', provider: '@b' },
    ];
    const config = plane.saveConfig({ strategy: strategy({ default: 'plain' }), targets: named });
    const paid = { 'x-gw-metadata': '{"plan":"paid"}' };
    expect((await ask(config, question, paid)).path).toBe('config.targets[0]');
    expect((await ask(config)).path).toBe('config.targets[1]');
    const strict = plane.saveConfig({ strategy: strategy({}), targets: named });
    expect(await ask(strict)).toEqual({ status: 400, path: 'config', records: ['config'] });
  });
});

describe('loadbalance', () => {
  const rows: [weights: (number | undefined)[], r: number, chosen: number][] = [
    [[5, 3, 1], 0.5, 0],
    [[5, 3, 1], 0.6, 1],
    [[5, 3, 1], 0.95, 2],
    [[0, undefined], 0, 1],
    [[0.7, 0.3], 0.69, 0],
    [[0.7, 0.3], 0.71, 1],
  ];
  test.each(rows)('weights %p at %p choose %p', async (weights, r, chosen) => {
    random = r;
    for (const slug of ['a', 'b', 'c']) script(slug, status(200));
    const weighted = weights.map((weight, index) => ({
      provider: `@${'abc'[index]}`,
      ...(weight !== undefined && { weight }),
    }));
    const config = plane.saveConfig({ strategy: { mode: 'loadbalance' }, targets: weighted });
    expect((await ask(config)).path).toBe(`config.targets[${chosen}]`);
  });

  test('weights of nothing but zero: 400', async () => {
    const config = plane.saveConfig({
      strategy: { mode: 'loadbalance' },
      targets: [
        { provider: '@a', weight: 0 },
        { provider: '@b', weight: 0 },
      ],
    });
    expect((await ask(config)).status).toBe(400);
  });

  test('whatever the weights and the draw, a child with a share is chosen', () => {
    const weights = fc.array(fc.double({ min: 0, max: 10, noNaN: true }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(weights, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (shares, r) => {
        const chosen = draw(
          shares.map((weight) => ({ weight })),
          r,
        );
        expect(chosen === null ? null : chosen.weight > 0).toBe(shares.some((weight) => weight > 0) ? true : null);
      }),
    );
    const tenths = Array.from({ length: 10 }, () => ({ weight: 0.1 }));
    expect(draw(tenths, 1 - Number.EPSILON / 2)).not.toBeNull();
  });

  test('one draw a walk: the chosen child fails, nobody else is asked', async () => {
    script('a', status(500));
    const config = plane.saveConfig({ strategy: { mode: 'loadbalance' }, targets: targets('a', 'b') });
    expect((await ask(config)).status).toBe(500);
    expect(asked()).toEqual([1, 0, 0]);
  });

  test('when everything with a share is open, the breaker is ignored', async () => {
    script('a', status(503));
    const cb_config = { failure_threshold: 1, cooldown_interval: 30_000 };
    const config = plane.saveConfig({
      strategy: { mode: 'loadbalance', cb_config },
      targets: [{ provider: '@a' }, { provider: '@b', weight: 0 }],
    });
    await ask(config);
    expect(await ask(config)).toMatchObject({ status: 503, path: 'config.targets[0]' });
  });

  test('sticky: who was sent somewhere stays there until the time is over', async () => {
    for (const slug of ['a', 'b']) script(slug, status(200));
    const strategy = { mode: 'loadbalance', sticky: { enabled: true, hash_fields: ['metadata.user'], ttl: 60 } };
    const config = plane.saveConfig({ strategy, targets: targets('a', 'b') });
    const as = (user: string) => ask(config, question, { 'x-gw-metadata': JSON.stringify({ user }) });
    expect((await as('ann')).path).toBe('config.targets[0]');
    random = 0.9;
    expect((await as('ann')).path).toBe('config.targets[0]');
    expect((await as('bob')).path).toBe('config.targets[1]');
    expect((await ask(config)).path).toBe('config.targets[1]');
    plane.clock.advance({ seconds: 61 });
    expect((await as('ann')).path).toBe('config.targets[1]');
  });

  test('sticky: calls that carry none of the fields share no choice', async () => {
    for (const slug of ['a', 'b']) script(slug, status(200));
    const strategy = { mode: 'loadbalance', sticky: { enabled: true, hash_fields: ['metadata.user'], ttl: 60 } };
    const config = plane.saveConfig({ strategy, targets: targets('a', 'b') });
    random = 0;
    expect((await ask(config)).path).toBe('config.targets[0]');
    random = 0.9;
    expect((await ask(config)).path).toBe('config.targets[1]');
  });
});

test('single uses its first target', async () => {
  script('a', status(200));
  const config = plane.saveConfig({ strategy: { mode: 'single' }, targets: targets('a', 'b') });
  expect((await ask(config)).path).toBe('config.targets[0]');
});
