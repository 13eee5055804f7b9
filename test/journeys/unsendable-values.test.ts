/** Values that would become a header and hold what no header can carry: the request is refused, the provider is not blamed. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { type Plane, savedProvider, startPlane } from '../gateway-deps.ts';
import type { Json } from '../harness.ts';
import * as openai from '../providers/openai.ts';
import { type SimulatedProvider, startProvider } from '../providers/simulated.ts';

let plane: Plane;
let provider: SimulatedProvider;

beforeAll(async () => {
  provider = await startProvider(openai.says('fine'));
  plane = startPlane();
  plane.providers.set('a', savedProvider('a', { provider: 'openai', customHost: provider.url }));
  plane.providers.set('c', savedProvider('c', { provider: 'anthropic', customHost: provider.url }));
});
afterAll(async () => {
  expect(plane.faults).toEqual([]);
  await plane.stop();
  await provider.stop();
});
beforeEach(() => {
  provider.calls.length = 0;
});

const question = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] };
const values = ['a\r\nx-evil: 1', 'a\nb', 'a\0b', '日本', '😀'];

const refusal = async (path: string, body: object, headers: Record<string, string>) => {
  const response = await plane.call(path, body, headers);
  const { error }: Json = await response.json();
  return [response.status, error.code, error.field];
};

for (const value of values) {
  test(`${JSON.stringify(value)} in a body is refused, and named`, async () => {
    const body = { ...question, anthropic_beta: [value] };
    expect(await refusal('/v1/messages', body, { 'x-gw-provider': '@c' })).toEqual([
      400,
      'invalid_header',
      'anthropic-beta',
    ]);
    expect(provider.calls).toEqual([]);
  });

  test(`${JSON.stringify(value)} in a target is refused, and the next one answers`, async () => {
    const config = plane.saveConfig({
      strategy: { mode: 'fallback' },
      retry: { attempts: 3 },
      targets: [{ provider: '@a', openai_organization: value }, { provider: '@a' }],
    });
    // More often than a breaker allows: a fault of the request opens none.
    for (let call = 0; call < 6; call++) {
      const response = await plane.call('/v1/chat/completions', question, { 'x-gw-config': config });
      expect([response.status, response.headers.get('x-gw-last-used-option-index')]).toEqual([
        200,
        'config.targets[1]',
      ]);
    }
    const tried = (await plane.settled()).map(({ metrics }) => metrics.last_used_option_path);
    expect(tried.filter((path) => path === 'config.targets[0]')).toHaveLength(6);
    expect([provider.calls.length, plane.waits]).toEqual([6, []]);
  });
}
