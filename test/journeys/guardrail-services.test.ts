/** Services of checks that hang, lie, flood, redirect or break off: the check says so, and only what was told to fail with it fails. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Json } from '../harness.ts';
import * as openai from '../providers/openai.ts';
import {
  type Behaviour,
  bytes,
  json,
  reset,
  type SimulatedProvider,
  silence,
  startProvider,
} from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let a: SimulatedProvider;
let service: SimulatedProvider;
let secret: SimulatedProvider;
let world: World;

beforeAll(async () => {
  a = await startProvider(openai.says('fine'));
  service = await startProvider();
  secret = await startProvider(json(200, { verdict: true, flagged: false }));
  world = await startWorld({ a: { provider: 'openai', simulated: a } });
});
afterAll(async () => {
  await world.stop();
  for (const each of [a, service, secret]) await each.stop();
});
beforeEach(() => {
  for (const each of [a, service, secret]) each.calls.length = 0;
});
afterEach(() => expect(world.gateway.faults).toEqual([]));

const huge = Buffer.from(JSON.stringify({ verdict: true, flagged: false, data: { text: 'x'.repeat(10_000_000) } }));
const deep = `{"verdict":true,"flagged":false,"data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;

const broken: [string, () => Behaviour][] = [
  ['hangs', () => silence],
  ['answers with a page', () => bytes(200, '<html><body>Sign in</body></html>', { 'content-type': 'text/html' })],
  ['answers with a list', () => json(200, [true])],
  ['answers with nothing', () => bytes(200, '', { 'content-type': 'application/json' })],
  ['answers with ten megabytes', () => bytes(200, huge, { 'content-type': 'application/json' })],
  ['answers with JSON that is nested without end', () => bytes(200, deep, { 'content-type': 'application/json' })],
  ['fails', () => json(503, { error: 'down' })],
  ['redirects elsewhere', () => bytes(302, '', { location: `${secret.url}/metadata` })],
  [
    'redirects to the metadata of a cloud',
    () => bytes(307, '', { location: 'http://169.254.169.254/latest/meta-data' }),
  ],
  ['closes the connection', () => reset],
  [
    'breaks off in the middle',
    () => (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"verdict":true,"flagged":false');
      response.socket?.end();
    },
  ],
];

const checks: Record<string, (failOnError: boolean) => Json> = {
  'default.webhook': (failOnError) => ({ webhookURL: `${service.url}/judge`, timeout: 300, failOnError }),
  'lakera.guard': (failOnError) => ({
    credentials: { apiKey: 'lakera-key', apiBase: service.url },
    timeout: 300,
    failOnError,
  }),
};

const sides = ['input_guardrails', 'output_guardrails'] as const;

/** Saved once for all that services do. */
const saved = new Map<string, Promise<string>>();
const configOf = (id: string, side: string, failOnError: boolean): Promise<string> => {
  const name = `${id} ${side} ${failOnError}`;
  const known = saved.get(name);
  if (known) return known;
  const guardrail = { [id]: checks[id]?.(failOnError), deny: true };
  const config = world.saveConfig({ provider: '@a', [side]: [guardrail] });
  saved.set(name, config);
  return config;
};

for (const id of Object.keys(checks)) {
  describe(`${id}: a service that`, () => {
    test.each(broken)('%s is an error of the check', async (_, behaviour) => {
      service.script(behaviour());
      for (const side of sides) {
        for (const failOnError of [false, true]) {
          a.calls.length = 0;
          const config = await configOf(id, side, failOnError);
          const answer = await world.call(
            '/v1/chat/completions',
            { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] },
            { 'x-gw-config': config },
          );
          const body: Json = await answer.json();
          const hooks = body.hook_results[side === 'input_guardrails' ? 'before_request_hooks' : 'after_request_hooks'];
          expect([answer.status, hooks[0].checks[0].error?.message.length > 0]).toEqual([
            failOnError ? 446 : 200,
            true,
          ]);
          expect(a.calls).toHaveLength(side === 'input_guardrails' && failOnError ? 0 : 1);
          expect(JSON.stringify(body)).not.toContain('lakera-key');
        }
      }
      expect(secret.calls).toEqual([]);
    });
  });
}

describe('one service that hangs', () => {
  test('holds up no other request, and an async check denies nothing', async () => {
    service.script(silence);
    const hanging = await world.saveConfig({
      provider: '@a',
      input_guardrails: [{ 'default.webhook': { webhookURL: `${service.url}/judge`, timeout: 2_000 }, deny: true }],
    });
    const left = new AbortController();
    const ask = (config: object, init: RequestInit = {}) =>
      world.call(
        '/v1/chat/completions',
        { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'a secret' }] },
        config as Record<string, string>,
        init,
      );
    const waiting = ask({ 'x-gw-config': hanging }, { signal: left.signal }).catch(() => 'left');
    while (service.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const asynchronous = await world.saveConfig({
      provider: '@a',
      input_guardrails: [{ 'default.contains': { words: ['secret'], operator: 'none' }, deny: true, async: true }],
    });
    expect((await ask({ 'x-gw-config': asynchronous })).status).toBe(200);
    left.abort();
    expect(await waiting).toBe('left');
  });
});
