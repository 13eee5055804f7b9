/** Headers that are large: a config may come in one, and there is a bound for all of them together. */
import { beforeAll, expect, test } from 'bun:test';
import { sharedByTests } from '../journey.ts';
import * as openai from '../providers/openai.ts';
import { lastCall, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;

beforeAll(async () => {
  provider = await startProvider(openai.says('fine'));
  world = await startWorld({ a: { provider: 'openai', simulated: provider } });
  await world.gateway.put('/v1/admin/organisation/settings', {
    data_plane_security_settings: { block_inline_config: false },
  });
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);

const ask = (length: number) => {
  const config = { provider: '@a', override_params: { user: '' } };
  const user = 'x'.repeat(length - JSON.stringify(config).length);
  const text = JSON.stringify({ ...config, override_params: { user } });
  return world.call('/v1/chat/completions', { model: 'm', messages: [] }, { 'x-gw-config': text });
};

test('an inline config may have 65,536 characters', async () => {
  expect((await ask(65_536)).status).toBe(200);
  expect(lastCall(provider).json.user.length).toBeGreaterThan(65_000);
});

test('a longer one is refused with the reason', async () => {
  const refused = await ask(65_537);
  expect([refused.status, await refused.json()]).toEqual([
    400,
    expect.objectContaining({ error: expect.objectContaining({ code: 'invalid_config' }) }),
  ]);
});

test('headers beyond the bound are not read at all', async () => {
  expect((await ask(200_000)).status).toBe(431);
  expect(provider.calls).toEqual([]);
});
