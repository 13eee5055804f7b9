/** The seams of an attempt, shown with a guardrail that does nothing, a limit that counts, and a cache that records. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type Plane, savedProvider, startPlane } from '../../../test/gateway-deps.ts';
import * as openai from '../../../test/providers/openai.ts';
import { type SimulatedProvider, startProvider, stream } from '../../../test/providers/simulated.ts';
import type { ServerEvent } from '../../providers/provider.ts';
import { GatewayError } from '../errors.ts';
import type { Settlement } from '../settle/settlement.ts';
import type { StreamStage } from '../streaming/stages.ts';
import { failed } from './exchange.ts';
import { type AnswerStep, noSteps, type SendStep } from './steps.ts';

let plane: Plane;
let a: SimulatedProvider;
let b: SimulatedProvider;

beforeAll(async () => {
  a = await startProvider(openai.says('from a'));
  b = await startProvider(openai.says('from b'));
  plane = startPlane();
  plane.providers.set('a', savedProvider('a', { customHost: a.url }));
  plane.providers.set('b', savedProvider('b', { customHost: b.url }));
});
afterAll(async () => {
  await plane.stop();
  await a.stop();
  await b.stop();
});
beforeEach(() => {
  a.script(openai.says('from a'));
  a.calls.length = 0;
  b.calls.length = 0;
  plane.deps.steps = noSteps;
  plane.deps.settlers = [];
});
afterEach(() => {
  expect(plane.faults).toEqual([]);
});

const question = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Tell me.' }] };
const ask = (config: object, more: object = {}) =>
  plane.call('/v1/chat/completions', { ...question, ...more }, { 'x-gw-config': plane.saveConfig(config) });
const always = () => true;
const refusal = () => new GatewayError('usage_limit_exceeded', 'no more');

describe('a guardrail that does nothing', () => {
  const before: SendStep = { name: 'guard input', applies: always, run: () => null };
  const after: AnswerStep = { name: 'guard output', applies: always, run: (_, answer) => answer };
  const watch: StreamStage = { name: 'watch', push: (events) => events, end: () => [] };
  const staged: AnswerStep = {
    name: 'guard stream',
    applies: (_, { content }) => content.form === 'events',
    run: (_, answer) =>
      answer.content.form === 'events' ? { ...answer, content: { ...answer.content, stages: [watch] } } : answer,
  };

  for (const streamed of [false, true]) {
    test(`changes nothing (streamed: ${streamed})`, async () => {
      const plain = await (await ask({ provider: '@a' }, { stream: streamed })).text();
      plane.deps.steps = { send: [before], answer: [after, staged] };
      expect(await (await ask({ provider: '@a' }, { stream: streamed })).text()).toBe(plain);
    });
  }
});

describe('steps before the call', () => {
  test('a limit that counts refuses the third call, and the provider does not see it', async () => {
    let left = 2;
    const limit: SendStep = {
      name: 'reserve',
      applies: always,
      run: ({ record }) => (left-- > 0 ? null : failed(record, refusal())),
    };
    plane.deps.steps = { send: [limit], answer: [] };
    const statuses: number[] = [];
    for (let n = 0; n < 3; n++) statuses.push((await ask({ provider: '@a', retry: { attempts: 3 } })).status);
    expect({ statuses, calls: a.calls.length }).toEqual({ statuses: [200, 200, 412], calls: 2 });
  });

  test('a refusal of one target is rescued by the next', async () => {
    const limit: SendStep = {
      name: 'reserve',
      applies: ({ target }) => target.saved?.slug === 'a',
      run: ({ record }) => failed(record, refusal()),
    };
    plane.deps.steps = { send: [limit], answer: [] };
    const response = await ask({ strategy: { mode: 'fallback' }, targets: [{ provider: '@a' }, { provider: '@b' }] });
    expect({ text: await response.text(), a: a.calls.length, b: b.calls.length }).toEqual({
      text: expect.stringContaining('from b'),
      a: 0,
      b: 1,
    });
  });

  test('a changed parameter reaches the provider', async () => {
    const change: SendStep = {
      name: 'clamp',
      applies: always,
      run: (call) => {
        call.shaped = { ...call.shaped, max_tokens: 7 };
        return null;
      },
    };
    plane.deps.steps = { send: [change], answer: [] };
    await ask({ provider: '@a' });
    expect(a.calls[0]?.json).toMatchObject({ max_tokens: 7, model: 'gpt-4o-mini' });
  });

  test('a step that throws refuses the call, and nothing is sent', async () => {
    const broken: SendStep = {
      name: 'guard input',
      applies: always,
      run: () => {
        throw refusal();
      },
    };
    plane.deps.steps = { send: [broken], answer: [] };
    expect({ status: (await ask({ provider: '@a' })).status, calls: a.calls.length }).toEqual({
      status: 412,
      calls: 0,
    });
  });
});

test('a cache that records answers the second call itself, with the same bytes', async () => {
  const kept = new Map<string, Uint8Array<ArrayBuffer>>();
  const keyOf = (shaped: unknown) => JSON.stringify(shaped);
  const recall: SendStep = {
    name: 'recall',
    applies: always,
    run: ({ shaped, record }) => {
      const bytes = kept.get(keyOf(shaped));
      if (!bytes) return null;
      record.status = 200;
      record.cacheStatus = 'HIT';
      return { status: 200, headers: null, content: { form: 'bytes', bytes }, record, rescue: null };
    },
  };
  const store: AnswerStep = {
    name: 'store',
    applies: (_, { content }) => content.form === 'bytes',
    run: ({ shaped }, answer) => {
      if (answer.content.form === 'bytes') kept.set(keyOf(shaped), answer.content.bytes);
      return answer;
    },
  };
  plane.deps.steps = { send: [recall], answer: [store] };
  const first = await (await ask({ provider: '@a' })).text();
  const second = await ask({ provider: '@a' });
  expect({ text: await second.text(), calls: a.calls.length }).toEqual({ text: first, calls: 1 });
  expect((await plane.settled()).at(-1)?.metrics.cache_status).toBe('HIT');
});

test('an answer that a step refuses is retried by the list of the retry rule', async () => {
  let seen = 0;
  const guard: AnswerStep = {
    name: 'guard output',
    applies: always,
    run: ({ record }, answer) => (++seen < 3 ? failed(record, new GatewayError('upstream_refused', 'no')) : answer),
  };
  plane.deps.steps = { send: [], answer: [guard] };
  const response = await ask({ provider: '@a', retry: { attempts: 5, on_status_codes: [502] } });
  expect({ status: response.status, calls: a.calls.length }).toEqual({ status: 200, calls: 3 });
});

test('every attempt is settled with its usage and cost, also those before the one that answered', async () => {
  const heard: [string | null, Settlement][] = [];
  plane.deps.settlers = [({ record, settlement }) => void heard.push([record.target?.saved?.slug ?? null, settlement])];
  a.script(openai.unavailable);
  await (await ask({ strategy: { mode: 'fallback' }, targets: [{ provider: '@a' }, { provider: '@b' }] })).text();
  await plane.settled();
  expect(heard.map(([slug, { cost, usage }]) => [slug, usage.outputTokens > 0, cost.known && cost.cents > 0])).toEqual([
    ['a', false, false],
    ['b', true, true],
  ]);
});

describe('a stage of a stream', () => {
  const withStage = (stage: StreamStage): AnswerStep => ({
    name: stage.name,
    applies: (_, { content }) => content.form === 'events',
    run: (_, answer) =>
      answer.content.form === 'events' ? { ...answer, content: { ...answer.content, stages: [stage] } } : answer,
  });

  test('may hold everything back until the end', async () => {
    const held: ServerEvent[] = [];
    const hold: StreamStage = {
      name: 'hold',
      push: (events) => {
        held.push(...events);
        return [];
      },
      end: () => held,
    };
    const plain = await (await ask({ provider: '@a' }, { stream: true })).text();
    plane.deps.steps = { send: [], answer: [withStage(hold)] };
    expect(await (await ask({ provider: '@a' }, { stream: true })).text()).toBe(plain);
  });

  test('may stop the stream, which then ends in a typed error and is logged as one', async () => {
    const outcomes: string[] = [];
    const stop: StreamStage = {
      name: 'stop',
      push: () => refusal(),
      end: (outcome) => {
        outcomes.push(outcome);
        return [];
      },
    };
    plane.deps.steps = { send: [], answer: [withStage(stop)] };
    const text = await (await ask({ provider: '@a' }, { stream: true })).text();
    expect(text).toContain('no more');
    expect(text).not.toContain('from a');
    expect((await plane.settled()).at(-1)?.metrics.response_status_code).toBe(412);
    expect(outcomes).toEqual(['failed']);
  });

  test('hears of a stream that another target goes on with only once, at its end', async () => {
    const outcomes: string[] = [];
    const watch: StreamStage = {
      name: 'watch',
      push: (events) => events,
      end: (outcome) => {
        outcomes.push(outcome);
        return [];
      },
    };
    plane.deps.steps = { send: [], answer: [withStage(watch)] };
    a.script(stream([openai.opening, openai.part('from')]));
    const config = {
      strategy: { mode: 'fallback', recover_streams: true },
      targets: [{ provider: '@a' }, { provider: '@b' }],
    };
    const text = await (await ask(config, { stream: true })).text();
    expect({ text: text.includes('[DONE]'), outcomes }).toEqual({ text: true, outcomes: ['complete'] });
  });
});
