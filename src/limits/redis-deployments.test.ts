/** Counting in Redis however it is set up: with a password, as a cluster, behind sentinels, over TLS. */
import { afterEach, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createAuthority } from '../../test/servers/certificates.ts';
import { freePort } from '../../test/servers/free-port.ts';
import { redisInstalled, startRedis, startRedisCluster, startRedisSentinel } from '../../test/servers/redis.ts';
import { connectRedis } from '../redis/connect.ts';
import { LimitStoreAway } from './engine.ts';
import { knownFrom, untilConnected, usageLimit } from './engine-suite.ts';
import { RedisEngine } from './redis-engine.ts';

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function engineAt(url: string): Promise<RedisEngine> {
  const redis = connectRedis(url, () => undefined);
  await untilConnected(redis);
  const entries: Parameters<typeof knownFrom>[0][number][] = [];
  const engine = new RedisEngine(redis, {
    record: (told) => void entries.push(...told),
    known: async (organisationId) => knownFrom(entries).filter((known) => known.organisationId === organisationId),
    now: () => Date.now(),
    timeoutMs: 10_000,
  });
  closing.push(() => engine.close());
  return engine;
}

/** Takes from two limits of a new organisation, settles, and reads; while there is no connection it is tried again. */
async function countAt(engine: RedisEngine): Promise<unknown> {
  const organisationId = Bun.randomUUIDv7();
  const limits = [usageLimit(organisationId, 100), usageLimit(organisationId, 100, { type: 'tokens' })];
  for (;;) {
    try {
      const demands = limits.map((limit) => ({ limit, least: 10, most: 10 }));
      const taken = await engine.reserve({ id: Bun.randomUUIDv7(), organisationId, demands });
      if (!taken.granted) throw new Error('It was refused');
      await engine.settle(taken.reservation, [7, 8]);
      const states = await engine.read(limits);
      return states.map(({ settled, reserved }) => ({ settled, reserved }));
    } catch (fault) {
      if (!(fault instanceof LimitStoreAway)) throw fault;
      await Bun.sleep(20);
    }
  }
}

const counted = [
  { settled: 7, reserved: 0 },
  { settled: 8, reserved: 0 },
];

describe.if(redisInstalled)('limits in Redis', () => {
  test('with a password, and a number of a database', async () => {
    const server = await startRedis(undefined, ['--requirepass', 'a/secret@word']);
    closing.push(() => server.kill());
    const engine = await engineAt(`redis://:${encodeURIComponent('a/secret@word')}@127.0.0.1:${server.port}/3`);
    expect(await countAt(engine)).toEqual(counted);
  });

  test('as a cluster: organisations lie on different servers, the limits of one stay together', async () => {
    const cluster = await startRedisCluster();
    closing.push(() => cluster.kill());
    const engine = await engineAt(`redis+cluster://${cluster.urls}`);
    for (let organisations = 0; organisations < 12; organisations++) expect(await countAt(engine)).toEqual(counted);
  }, 60_000);

  test('behind a sentinel, also once it has chosen another master', async () => {
    const setup = await startRedisSentinel();
    closing.push(() => setup.kill());
    const engine = await engineAt(setup.url);
    expect(await countAt(engine)).toEqual(counted);
    await setup.master.kill();
    expect(await countAt(engine)).toEqual(counted);
  }, 60_000);

  test('over TLS, for those who trust its certificate', async () => {
    const authority = createAuthority();
    closing.push(() => authority.remove());
    const { key, cert } = authority.certify('IP:127.0.0.1');
    const folder = dirname(authority.path);
    writeFileSync(join(folder, 'redis.key'), key);
    writeFileSync(join(folder, 'redis.pem'), cert);
    const port = await freePort();
    const files = ['--tls-cert-file', join(folder, 'redis.pem'), '--tls-key-file', join(folder, 'redis.key')];
    const settings = ['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no', ...files];
    const server = await startRedis(port, settings);
    closing.push(() => server.kill());
    const connect = join(import.meta.dir, '../redis/connect.ts');
    const script = `
      const { connectRedis } = await import(${JSON.stringify(connect)});
      const redis = connectRedis('rediss://127.0.0.1:${port}', (fault) => { console.log(fault.message); process.exit(1); });
      for (;;) {
        const answer = await redis.command('x', ['PING']).catch(() => null);
        if (answer) { console.log(answer); process.exit(0); }
        await Bun.sleep(5);
      }`;
    const ping = (env: Record<string, string>) =>
      Bun.spawnSync([process.execPath, '-e', script], { env: { ...process.env, ...env } })
        .stdout.toString()
        .trim();
    expect(ping({ NODE_EXTRA_CA_CERTS: authority.path })).toBe('PONG');
    expect(ping({})).not.toBe('PONG');
  });
});
