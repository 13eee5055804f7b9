/** The index finds the nearest of many, keeps workspaces and partitions apart, and forgets; by itself, in its thread, and shared by nodes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type RedisServer, redisInstalled, startRedis } from '../../../test/servers/redis.ts';
import { connectRedis } from '../../redis/connect.ts';
import type { Redis } from '../../redis/redis.ts';
import type { CachePlace, PurgeScope } from '../engine.ts';
import type { RedisCommands } from '../redis-engine.ts';
import type { Neighbour } from './semantic-index.ts';
import { SharedIndex } from './shared-index.ts';
import { ThreadedIndex } from './threaded-index.ts';
import { VectorIndex } from './vector-index.ts';

/** A generator of its own, so that a run can be repeated. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
}

const vector = (next: () => number, dimensions = 256): Float32Array => Float32Array.from({ length: dimensions }, next);
const place = (key: string, workspaceId = 'w', namespace = '') => ({ workspaceId, namespace, key });

interface Tested {
  nearest(workspaceId: string, partition: string, vector: Float32Array): Promise<Neighbour | null> | Neighbour | null;
  add(partition: string, vector: Float32Array, place: CachePlace, ttlSeconds: number): void;
  purge(scope: PurgeScope): void;
}

const mostPerWorkspace = 4_000;
const threads: ThreadedIndex[] = [];
afterAll(() => Promise.all(threads.map((thread) => thread.close())));

const made: Record<string, () => Tested> = {
  'in this thread': () => new VectorIndex(mostPerWorkspace, () => 0),
  'in a thread of its own': () => {
    const index = new ThreadedIndex({ mostPerWorkspace, timeoutMs: 60_000, warn: () => undefined });
    threads.push(index);
    return index;
  },
};

const sharedIndex = (nodeId: string, redis: RedisCommands, timeoutMs = 60_000, warnings: string[] = []) =>
  new SharedIndex({
    redis,
    local: Object.assign(new VectorIndex(mostPerWorkspace, () => 0), { close: async () => undefined }),
    nodeId,
    mostPerWorkspace: 2 * mostPerWorkspace,
    timeoutMs,
    now: () => 0,
    warn: (message) => void warnings.push(message),
  });

test.each([
  ['refuses', () => Promise.reject(new Error('gone')), true],
  ['does not answer', () => new Promise(() => undefined), false],
  ['answers nonsense', async () => [['1-0', 'x']], true],
])('a Redis that %s leaves a node with its own questions', async (_, command, isTold) => {
  const warnings: string[] = [];
  const index = sharedIndex('n', { command }, 5, warnings);
  const one = vector(numbers(1));
  index.add('p', one, place('k'), 60);
  expect((await index.nearest('w', 'p', one))?.place.key).toBe('k');
  expect(warnings.some((warning) => warning.includes('semantic hits are of this node only'))).toBe(isTold);
  index.purge({ workspaceId: 'w', namespace: null, key: null });
  expect(await index.nearest('w', 'p', one)).toBeNull();
});

test('what somebody else wrote into the list is passed over', async () => {
  const theirs = { partition: 'p', vector: '', namespace: '', key: 'theirs', expiresAt: 1 };
  const question = { ...theirs, vector: Buffer.from(new Float32Array([1, 2]).buffer).toString('base64'), key: 'k' };
  const page = [
    ['1-0', ['surprise', 'x']],
    ['2-0', ['node', 'other', 'question', '{']],
    ['3-0', ['node', 'other', 'question', JSON.stringify(question)]],
  ];
  const index = sharedIndex('n', { command: async () => page });
  expect((await index.nearest('w', 'p', new Float32Array([1, 2])))?.place.key).toBe('k');
});

/** Questions are asked at one node and answered at another. */
const ofTwoNodes = 'of two nodes that share a Redis';
let redis: Redis;
let server: RedisServer;
made[ofTwoNodes] = () => {
  // One connection for both, so that what one node writes is there when the other reads.
  const [asker, other] = ['asker', 'other'].map((nodeId) => sharedIndex(nodeId, redis));
  const run = Bun.randomUUIDv7();
  return {
    add: (partition, question, at, ttl) =>
      asker?.add(partition, question, { ...at, workspaceId: run + at.workspaceId }, ttl),
    nearest: async (workspaceId, partition, question) =>
      (await other?.nearest(run + workspaceId, partition, question)) ?? null,
    purge(scope) {
      for (const one of [asker, other]) one?.purge({ ...scope, workspaceId: run + scope.workspaceId });
    },
  };
};
beforeAll(async () => {
  if (!redisInstalled) return;
  server = await startRedis();
  redis = connectRedis(server.url, () => undefined);
  while ((await redis.command('', ['PING']).catch(() => null)) !== 'PONG') await Bun.sleep(5);
});
afterAll(async () => {
  if (!redisInstalled) return;
  await redis.close();
  await server.kill();
});

for (const [name, make] of Object.entries(made)) {
  describe.if(name !== ofTwoNodes || redisInstalled)(name, () => {
    test('the nearest of thousands is found', async () => {
      const index = make();
      const next = numbers(7);
      const all = Array.from({ length: 3_000 }, () => vector(next));
      for (const [at, entry] of all.entries()) index.add('p', entry, place(String(at)), 60);
      for (let at = 0; at < all.length; at += 97) {
        const near = (all[at] ?? vector(next)).map((value) => value + next() * 0.2);
        const found = await index.nearest('w', 'p', near);
        expect(found?.place.key).toBe(String(at));
        expect(found?.similarity).toBeGreaterThan(0.9);
      }
    });

    test('workspaces, partitions and dimensions are kept apart', async () => {
      const index = make();
      const one = vector(numbers(1));
      index.add('p', one, place('k'), 60);
      expect(await index.nearest('other', 'p', one)).toBeNull();
      expect(await index.nearest('w', 'q', one)).toBeNull();
      expect(await index.nearest('w', 'p', vector(numbers(1), 8))).toBeNull();
      expect((await index.nearest('w', 'p', one))?.similarity).toBeCloseTo(1);
    });

    test('entries end with a purge, and where there are too many the longest unused goes', async () => {
      const index = make();
      const next = numbers(3);
      const one = vector(next);
      index.add('p', one, place('k', 'w', 'n'), 60);
      index.purge({ workspaceId: 'w', namespace: 'other', key: null });
      expect(await index.nearest('w', 'p', one)).not.toBeNull();
      index.purge({ workspaceId: 'w', namespace: 'n', key: null });
      expect(await index.nearest('w', 'p', one)).toBeNull();
      const others = Array.from({ length: mostPerWorkspace - 1 }, () => vector(next, 8));
      index.add('used', one, place('used'), 60);
      index.add('unused', one, place('unused'), 60);
      for (const [at, other] of others.slice(1).entries()) index.add('p', other, place(String(at)), 60);
      expect(await index.nearest('w', 'used', one)).not.toBeNull();
      index.add('p', vector(next, 8), place('one more'), 60);
      expect(await index.nearest('w', 'used', one)).not.toBeNull();
      expect(await index.nearest('w', 'unused', one)).toBeNull();
      // What moved into the place of what went is still found.
      expect((await index.nearest('w', 'p', others.at(-1) ?? one))?.similarity).toBeCloseTo(1);
    });
  });
}

test('entries end with their age', () => {
  let now = 0;
  const index = new VectorIndex(mostPerWorkspace, () => now);
  const next = numbers(5);
  const [old, young] = [vector(next), vector(next)];
  index.add('p', old, place('old'), 60);
  index.add('p', young, place('young'), 600);
  now = 61_000;
  expect(index.nearest('w', 'p', old)?.place.key).toBe('young');
  now = 601_000;
  expect(index.nearest('w', 'p', old)).toBeNull();
});

test('a thread that does not answer in time is a miss', async () => {
  const index = new ThreadedIndex({ mostPerWorkspace, timeoutMs: 0, warn: () => undefined });
  threads.push(index);
  const next = numbers(11);
  for (let at = 0; at < 2_000; at++) index.add('p', vector(next, 1_536), place(String(at)), 60);
  expect(await index.nearest('w', 'p', vector(next, 1_536))).toBeNull();
});
