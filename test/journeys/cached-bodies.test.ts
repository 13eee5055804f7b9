/** Large answers that the cache recalls share the budget of bodies in memory, until their clients have taken them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import * as openai from '../providers/openai.ts';
import { type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { redisInstalled, sharedRedis } from '../servers/redis.ts';
import { startWorld, type World } from '../world.ts';

/** An organisation may hold half of it. */
const room = 2 * 1024 * 1024;

function suite(env: () => Promise<Record<string, string>>) {
  let provider: SimulatedProvider;
  let world: World;
  let config: string;
  beforeAll(async () => {
    provider = await startProvider();
    world = await startWorld(
      { a: { provider: 'openai', simulated: provider } },
      { MAX_BUFFERED_BYTES: String(room), ...(await env()) },
    );
    config = await world.saveConfig({ provider: '@a', cache: { mode: 'simple' } });
  });
  afterAll(async () => {
    await world.gateway.stopWithoutFaults();
    await provider.stop();
  });

  const ask = async (content: string) => {
    const messages = [{ role: 'user', content }];
    const body = { model: 'gpt-4o-mini', messages, stream: true };
    const answer = await world.call('/v1/chat/completions', body, { 'x-gw-config': config });
    const text = await answer.text();
    return { status: answer.status, cache: answer.headers.get('x-gw-cache-status'), text };
  };
  /** A stream is not held as a whole while it comes, so that one of any length is kept. */
  const keep = async (content: string, pieces: number) => {
    provider.script(openai.says(...Array.from({ length: pieces }, () => 'x'.repeat(10_000))));
    const told = await ask(content);
    expect([told.status, told.cache]).toEqual([200, 'MISS']);
    return told.text;
  };
  const idle = async () => {
    while (world.gateway.app.services.bodies.held > 0) await new Promise((resolve) => setImmediate(resolve));
  };

  test('one that finds no room is refused', async () => {
    await keep('A long story', 120);
    const again = await ask('A long story');
    expect(again.status).toBe(503);
    expect(again.text).toContain('buffers_full');
    expect(provider.calls).toHaveLength(1);
  });

  test('one that finds room gives it back', async () => {
    const told = await keep('A story', 60);
    for (let times = 0; times < 5; times++) {
      const again = await ask('A story');
      expect([again.status, again.cache, again.text.length]).toEqual([200, 'HIT', told.length]);
      await idle();
    }
  });
}

describe('recalled from memory', () => suite(async () => ({})));
describe.if(redisInstalled)('recalled from Redis', () =>
  suite(async () => ({ REDIS_URL: (await sharedRedis()).url, CACHE_TIMEOUT_MS: '30000' })),
);
