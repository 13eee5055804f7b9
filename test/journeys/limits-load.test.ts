/** Limits under load: a thousand calls at once, several processes on one Redis and one PostgreSQL, and processes that are killed. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '../harness.ts';
import { type Served, serve } from '../process.ts';
import * as openai from '../providers/openai.ts';
import { json, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { newMigratedDatabase, postgresInstalled } from '../servers/postgres.ts';
import { redisInstalled, startRedis } from '../servers/redis.ts';

const adminKey = 'gw-admin-key-0123456789abcdefghijklmnop';
const tokensOfCall = 30;

interface Node {
  url: string;
}

const folders: string[] = [];
const newFolder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'gw-limits-'));
  folders.push(made);
  return made;
};
afterAll(() => {
  for (const made of folders) rmSync(made, { recursive: true, force: true });
});

const admin = async ({ url }: Node, method: string, path: string, body?: object): Promise<Json> => {
  const response = await fetch(url + path, {
    method,
    headers: { 'x-gw-api-key': adminKey, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (response.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
  return answer;
};

/** A workspace with the provider `@a`, one key and two policies on it; answers how to call and to look. */
async function furnish(node: Node, provider: SimulatedProvider, limits: { tokens: number; requests: number }) {
  const [workspace] = (await admin(node, 'GET', '/v1/workspaces')).data;
  const common = { workspace_id: workspace.id };
  for (const slug of ['a', 'broken']) {
    await admin(node, 'POST', '/v1/integrations', {
      ...common,
      name: slug,
      slug,
      ai_provider_id: 'openai',
      key: 'sk-x',
      create_default_provider: true,
      default_provider_slug: slug,
      configurations: { custom_host: slug === 'a' ? provider.url : `${provider.url}/broken` },
    });
  }
  const { slug: config } = await admin(node, 'POST', '/v1/configs', {
    ...common,
    name: 'Fails over',
    config: { strategy: { mode: 'fallback' }, targets: [{ provider: '@broken' }, { provider: '@a' }] },
  });
  const key = await admin(node, 'POST', '/v1/api-keys/workspace/service', {
    ...common,
    name: 'Load',
    scopes: ['completions.write'],
  });
  const on = { ...common, conditions: [{ key: 'api_key', value: key.id }] };
  const tokens = await admin(node, 'POST', '/v1/policies/usage-limits', {
    ...on,
    type: 'tokens',
    credit_limit: limits.tokens,
  });
  const requests = await admin(node, 'POST', '/v1/policies/usage-limits', {
    ...on,
    type: 'requests',
    credit_limit: limits.requests,
  });
  const entity = async (at: Node, id: string): Promise<Json> =>
    (await admin(at, 'GET', `/v1/policies/usage-limits/${id}/entities`)).data[0] ?? { current_usage: 0, reserved: 0 };
  return {
    secret: key.key as string,
    config: config as string,
    tokens: (at: Node) => entity(at, tokens.id),
    requests: (at: Node) => entity(at, requests.id),
  };
}

const question = { messages: [{ role: 'user', content: 'Say hello.' }], max_tokens: 10 };

/** One call of a kind; 0 where the connection broke or the caller left. */
async function call(
  { url }: Node,
  secret: string,
  kind: 'plain' | 'stream' | 'cancelled' | 'failover',
  config: string,
) {
  const abort = new AbortController();
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'x-gw-api-key': secret,
        'content-type': 'application/json',
        ...(kind === 'failover' && { 'x-gw-config': config }),
      },
      body: JSON.stringify({
        ...question,
        model: kind === 'failover' ? 'gpt-4o-mini' : '@a/gpt-4o-mini',
        ...((kind === 'stream' || kind === 'cancelled') && { stream: true }),
      }),
      signal: abort.signal,
    });
    if (kind === 'cancelled') {
      abort.abort();
      return 0;
    }
    await response.text();
    return response.status;
  } catch {
    // The process was killed, or the caller left: nothing was answered.
    return 0;
  }
}

const kinds = ['plain', 'stream', 'plain', 'failover', 'plain', 'cancelled', 'stream', 'plain'] as const;
const kindOf = (index: number) => kinds[index % kinds.length] ?? 'plain';

/** Calls until the limit refuses, a few at a time. */
async function exhaust(node: Node, place: { secret: string; config: string }): Promise<void> {
  for (let n = 0; n < 200; n++) {
    const statuses = await Promise.all(
      Array.from({ length: 8 }, () => call(node, place.secret, 'plain', place.config)),
    );
    if (statuses.includes(412)) return;
  }
}

const whenSettled = async (look: () => Promise<Json>): Promise<Json> => {
  for (let n = 0; n < 500; n++) {
    const entity = await look();
    if (entity.reserved === 0) return entity;
    await Bun.sleep(10);
  }
  throw new Error('Something stays reserved');
};

/** Answers every path but those below `/broken`, which fail. */
const provider = () =>
  startProvider((asked, response) =>
    asked.path.includes('/broken') ? openai.serverError(asked, response) : openai.says('Hello')(asked, response),
  );

/** Calls that the provider has answered, but for the failing ones. */
const answered = ({ calls }: SimulatedProvider): number => calls.filter(({ path }) => !path.includes('/broken')).length;

describe('one process', () => {
  let upstream: SimulatedProvider;
  let node: Served;
  const dataDir = newFolder();
  const environment = {
    GW_DATA_DIR: dataDir,
    GW_ADMIN_API_KEY: adminKey,
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    NODE_ENV: 'production',
  };
  beforeAll(async () => {
    upstream = await provider();
    node = await serve(environment);
  }, 60_000);
  afterAll(async () => {
    node.kill('SIGKILL');
    await node.ended;
    await upstream.stop();
  });

  test('1,000 calls at once never pass a limit, nearly all of it can be used, and a kill forgets nothing', async () => {
    const limit = 500 * tokensOfCall;
    const place = await furnish(node, upstream, { tokens: limit, requests: 100_000 });
    const statuses = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) => call(node, place.secret, kindOf(index), place.config)),
    );
    expect(new Set(statuses.filter((status) => status !== 0))).toEqual(new Set([200, 412]));
    await exhaust(node, place);
    const used = await whenSettled(() => place.tokens(node));
    expect(used.current_usage).toBeLessThanOrEqual(limit);
    expect(used.current_usage).toBeGreaterThanOrEqual(0.95 * limit);
    const requests = await whenSettled(() => place.requests(node));
    expect(requests.current_usage).toBeGreaterThanOrEqual(statuses.filter((status) => status === 200).length);
    node.kill('SIGKILL');
    await node.ended;
    node = await serve(environment);
    expect((await place.tokens(node)).current_usage).toBe(used.current_usage);
  }, 120_000);
});

describe('a model that counts far more tokens than it did before', () => {
  test('1,000 calls at once never pass a limit, however far the estimate of their input is off', async () => {
    const prose = 'The quick brown fox jumps over the lazy dog. '.repeat(40);
    const upstream = await startProvider((asked, response) => {
      const [{ content }] = asked.json.messages;
      const prompt_tokens = content === prose ? 400 : Buffer.byteLength(content) + 7;
      const completion_tokens = asked.json.max_tokens;
      const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
      json(200, { ...openai.completion('Hello'), usage })(asked, response);
    });
    const node = await serve({
      GW_DATA_DIR: newFolder(),
      GW_ADMIN_API_KEY: adminKey,
      TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
      NODE_ENV: 'production',
    });
    try {
      const digits = '4f9c 0b1e 77aa '.repeat(40);
      const limit = 200 * (Buffer.byteLength(digits) + 17) + 10 * 410;
      const { secret, tokens } = await furnish(node, upstream, { tokens: limit, requests: 100_000 });
      const ask = async (content: string): Promise<number> => {
        const response = await fetch(`${node.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'x-gw-api-key': secret, 'content-type': 'application/json' },
          body: JSON.stringify({ model: '@a/gpt-4o-mini', messages: [{ role: 'user', content }], max_tokens: 10 }),
        });
        await response.text();
        return response.status;
      };
      for (let n = 0; n < 10; n++) expect(await ask(prose)).toBe(200);
      const statuses = await Promise.all(Array.from({ length: 1_000 }, () => ask(digits)));
      while ((await ask(digits)) === 200);
      expect(new Set(statuses)).toEqual(new Set([200, 412]));
      const used = await whenSettled(() => tokens(node));
      expect(used.current_usage).toBeLessThanOrEqual(limit);
      expect(used.current_usage).toBeGreaterThanOrEqual(0.95 * limit);
    } finally {
      node.kill('SIGKILL');
      await node.ended;
      await upstream.stop();
    }
  }, 120_000);
});

describe.if(redisInstalled && postgresInstalled)('three processes on one Redis and one PostgreSQL', () => {
  test('let through exactly what the limit allows, also when one of them is killed on the way', async () => {
    const upstream = await provider();
    const redis = await startRedis();
    const environment = {
      GW_ADMIN_API_KEY: adminKey,
      GW_MASTER_KEY: 'a-master-key-that-all-three-nodes-share',
      TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
      NODE_ENV: 'production',
      DATABASE_URL: await newMigratedDatabase(),
      REDIS_URL: redis.url,
      LIMITS_STORE_TIMEOUT_MS: '30000',
    };
    const first = await serve({ ...environment, GW_DATA_DIR: newFolder() });
    const others = await Promise.all([1, 2].map(() => serve({ ...environment, GW_DATA_DIR: newFolder() })));
    const nodes = [first, ...others];
    try {
      const limit = 400;
      const place = await furnish(first, upstream, { tokens: 1_000_000, requests: limit });
      const [, , victim] = nodes;
      const statuses = await Promise.all(
        Array.from({ length: 900 }, async (_, index) => {
          const status = await call(nodes[index % 3] ?? first, place.secret, 'plain', place.config);
          if (index === 200) victim?.kill('SIGKILL');
          return status;
        }),
      );
      const granted = () => statuses.filter((status) => status === 200).length;
      for (let n = 0; n < 100 && !statuses.includes(412); n++) {
        statuses.push(await call(first, place.secret, 'plain', place.config));
      }
      expect(new Set(statuses.filter((status) => status !== 0))).toEqual(new Set([200, 412]));
      expect(answered(upstream)).toBeLessThanOrEqual(limit);
      // What the killed process had been let through counts, whether or not anybody heard its answer.
      expect(granted()).toBeLessThanOrEqual(limit);
      const { current_usage, reserved } = await place.requests(first);
      expect(current_usage + reserved).toBe(limit);
    } finally {
      for (const node of nodes) {
        node.kill('SIGKILL');
        await node.ended;
      }
      await redis.kill();
      await upstream.stop();
    }
  }, 180_000);
});
