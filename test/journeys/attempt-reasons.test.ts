/** Every record says why its target was tried. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../harness.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stopWithoutFaults());

const target = (model: string, more: object = {}) => ({ provider: '@sandbox', override_params: { model }, ...more });

async function reasons(config: object, metadata: object = {}) {
  const saved = await gateway.post('/v1/configs', { name: 'A config', config }, { key: gateway.workspaceKey });
  const { headers } = await gateway.post(
    '/v1/chat/completions',
    { model: 'echo', messages: [{ role: 'user', content: 'Hello' }] },
    {
      key: gateway.workspaceKey,
      headers: {
        'x-gw-config': saved.body.slug,
        'x-gw-metadata': JSON.stringify(metadata),
        'x-gw-trace-id': Bun.randomUUIDv7(),
      },
    },
  );
  await gateway.app.services.logs.settled();
  const { body } = await gateway.get(`/v1/logs?trace_id=${headers.get('x-gw-trace-id')}&order_by_type=asc`);
  const calls: { attempt: object; last_used_option_index: number }[] = body.data;
  return calls.sort((a, b) => a.last_used_option_index - b.last_used_option_index).map(({ attempt }) => attempt);
}

test('a fallback tells what failed before, and which retries waited how long', async () => {
  const [first, second] = await reasons({
    strategy: { mode: 'fallback' },
    targets: [target('echo+status=503', { retry: { attempts: 1 } }), target('echo')],
  });
  expect(first).toMatchObject({
    rule: 'fallback: target 0, first',
    after: [],
    retries: [{ status: 503, wait_ms: expect.any(Number) }],
  });
  expect(second).toMatchObject({
    rule: 'fallback: target 1, after 503',
    after: [{ path: 'config.targets[0]', status: 503, reason: expect.stringContaining('503') }],
    retries: [],
    waited_ms: 0,
  });
});

test('a weight and a condition are told, one inside of the other', async () => {
  const [reason] = await reasons(
    {
      strategy: {
        mode: 'conditional',
        // biome-ignore lint/suspicious/noThenProperty: the config's own word.
        conditions: [{ query: { 'metadata.plan': { $eq: 'paid' } }, then: 'fast' }],
        default: 'slow',
      },
      targets: [
        { name: 'slow', ...target('echo') },
        { name: 'fast', strategy: { mode: 'loadbalance' }, targets: [target('echo', { weight: 1 })] },
      ],
    },
    { plan: 'paid' },
  );
  expect(reason).toMatchObject({ rule: 'conditional: condition 0 > loadbalance: weight 1' });
  const [single] = await reasons(target('echo'));
  expect(single).toEqual({ rule: 'single', after: [], retries: [], waited_ms: 0 });
});
