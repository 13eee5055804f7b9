/** Both engines of the cache, held against the same cases; and what a request notices of an engine that is slow or gone. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type RedisServer, redisInstalled, startRedis } from '../../test/servers/redis.ts';
import { noUsage } from '../providers/usage.ts';
import { connectRedis } from '../redis/connect.ts';
import type { Redis } from '../redis/redis.ts';
import { createCache } from './cache.ts';
import type { CacheEngine, CacheEntry, CachePlace } from './engine.ts';
import { createMemoryEngine } from './memory-engine.ts';
import { createRedisEngine } from './redis-engine.ts';
import { VectorIndex } from './semantic/vector-index.ts';

const newIndex = () => Object.assign(new VectorIndex(10, () => 0), { close: async () => undefined });

const entry = (text: string, stream: string | null = null): CacheEntry => ({
  body: Buffer.from(text),
  stream: stream === null ? null : Buffer.from(stream),
  contentType: 'application/json',
  model: 'm',
  usage: { ...noUsage, inputTokens: 3 },
  cents: 0.5,
});
const place = (key: string, workspaceId = 'w', namespace = ''): CachePlace => ({ workspaceId, namespace, key });
const textOf = async (engine: CacheEngine, at: CachePlace) => {
  const found = await engine.get(at);
  return found?.body ? Buffer.from(found.body).toString() : null;
};

function cases(title: string, open: () => CacheEngine, passTime: ((seconds: number) => void) | null): void {
  describe(title, () => {
    test('what was kept is found whole, and nothing else is', async () => {
      const engine = open();
      await engine.set(place('k1'), entry('\u0000ÿ"é', 'data: x\n\n'), 60);
      const found = await engine.get(place('k1'));
      expect(Buffer.from(found?.body ?? [])).toEqual(Buffer.from('\u0000ÿ"é'));
      expect(Buffer.from(found?.stream ?? []).toString()).toBe('data: x\n\n');
      expect(found).toMatchObject({
        contentType: 'application/json',
        model: 'm',
        cents: 0.5,
        usage: { inputTokens: 3 },
      });
      expect(await engine.get(place('k2'))).toBeNull();
      expect(await engine.get(place('k1', 'other'))).toBeNull();
      expect(await engine.get(place('k1', 'w', 'n'))).toBeNull();
    });

    test('a purge takes a key, a namespace or a workspace, and nothing of others', async () => {
      const engine = open();
      const fill = async () => {
        for (const at of [place('p1'), place('p2'), place('p1', 'w', 'a*b'), place('p1', 'x')]) {
          await engine.set(at, entry('v'), 60);
        }
      };
      const left = async () => [
        await textOf(engine, place('p1')),
        await textOf(engine, place('p2')),
        await textOf(engine, place('p1', 'w', 'a*b')),
        await textOf(engine, place('p1', 'x')),
      ];
      await fill();
      await engine.purge({ workspaceId: 'w', namespace: '', key: 'p1' });
      expect(await left()).toEqual([null, 'v', 'v', 'v']);
      await fill();
      await engine.purge({ workspaceId: 'w', namespace: 'a*b', key: null });
      expect(await left()).toEqual(['v', 'v', null, 'v']);
      await fill();
      await engine.purge({ workspaceId: 'w', namespace: null, key: null });
      expect(await left()).toEqual([null, null, null, 'v']);
    });

    if (!passTime) return;
    test('an entry ends with its age', async () => {
      const engine = open();
      await engine.set(place('old'), entry('v'), 60);
      passTime(59);
      expect(await textOf(engine, place('old'))).toBe('v');
      passTime(2);
      expect(await engine.get(place('old'))).toBeNull();
    });
  });
}

let now = 0;
cases(
  'memory',
  () => createMemoryEngine(1_000_000, () => now),
  (seconds) => {
    now += seconds * 1000;
  },
);

test('memory is bounded in bytes: what was used longest ago goes first', async () => {
  const engine = createMemoryEngine(4_000, () => 0);
  for (const key of ['a', 'b', 'c']) await engine.set(place(key), entry('x'.repeat(700)), 60);
  await engine.get(place('a'));
  await engine.set(place('d'), entry('x'.repeat(700)), 60);
  expect(await textOf(engine, place('b'))).toBeNull();
  expect(await textOf(engine, place('a'))).not.toBeNull();
  await engine.set(place('huge'), entry('x'.repeat(5_000)), 60);
  expect(await engine.get(place('huge'))).toBeNull();
});

describe.if(redisInstalled)('with a server', () => {
  let server: RedisServer;
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis();
    redis = connectRedis(server.url, () => undefined);
    while ((await redis.command('', ['PING']).catch(() => null)) !== 'PONG') await Bun.sleep(5);
  });
  afterAll(async () => {
    await redis.close();
    await server.kill();
  });

  cases('Redis', () => createRedisEngine(redis), null);

  test('a server that is frozen is a miss, and serves again when it is not', async () => {
    const engine = createRedisEngine(redis);
    const cache = createCache(engine, newIndex(), 50, () => undefined);
    await engine.set(place('frozen'), entry('v'), 60);
    server.freeze();
    expect(await cache.get(place('frozen'))).toBeNull();
    server.thaw();
    expect(await textOf(engine, place('frozen'))).toBe('v');
  });

  test('two nodes share what one of them kept', async () => {
    const other = connectRedis(server.url, () => undefined);
    while ((await other.command('', ['PING']).catch(() => null)) !== 'PONG') await Bun.sleep(5);
    await createRedisEngine(redis).set(place('shared'), entry('v'), 60);
    expect(await textOf(createRedisEngine(other), place('shared'))).toBe('v');
    await other.close();
  });
});

describe('an engine that does not serve', () => {
  const failing = (get: () => Promise<CacheEntry | null>): CacheEngine => ({
    get,
    set: () => Promise.reject(new Error('gone')),
    purge: () => Promise.reject(new Error('gone')),
    close: async () => undefined,
  });

  test('is a miss when it fails, and when it does not answer', async () => {
    const index = newIndex();
    const warnings: string[] = [];
    const warn = (message: string) => void warnings.push(message);
    const gone = createCache(
      failing(() => Promise.reject(new Error('refused'))),
      index,
      50,
      warn,
    );
    expect(await gone.get(place('k'))).toBeNull();
    gone.set(place('k'), entry('v'), 60);
    const frozen = createCache(
      failing(() => new Promise(() => undefined)),
      index,
      50,
      warn,
    );
    expect(await frozen.get(place('k'))).toBeNull();
    expect(warnings.join('\n')).toContain('refused');
    expect(warnings.join('\n')).toContain('50 ms');
  });
});
