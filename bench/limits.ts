/** What limits cost a call: on every level, embedded and in Redis, and with ten thousand policies in the workspace. */
import { redisInstalled, startRedis } from '../test/servers/redis.ts';
import type { Aim } from './child.ts';
import { type Child, startChild } from './child.ts';
import { compare, startProgram } from './gateway.ts';
import { printTable } from './table.ts';
import { differingTraffic } from './traffic.ts';

const requests = 7_200;
const fewPolicies = 10;
const manyPolicies = 10_000;
/** Far beyond what is asked for here. */
const plenty = 1e12;

const load = { count: requests, together: 16, warmUp: 2, traffic: differingTraffic };

export async function benchLimits(): Promise<object> {
  const upstream = await startChild(['bench/upstream.ts']);
  const forwarder = await startChild(['bench/forwarder.ts', String(upstream.port)]);
  const free = await startProgram();
  const embedded = await startProgram();
  const few = await startProgram();
  const many = await startProgram({ ADMIN_RATE_LIMIT: '0' });
  const redis = redisInstalled ? await startRedis() : null;
  const shared = redis ? await startProgram({ REDIS_URL: redis.url, LIMITS_STORE_TIMEOUT_MS: '5000' }) : null;
  try {
    const bare: Aim = { child: forwarder, headers: {} };
    const limited = await onEveryLevel(await openBench(embedded, upstream));
    const inRedis = shared && (await onEveryLevel(await openBench(shared, upstream)));
    const levels = await compare(
      [
        ['bare forwarder', bare],
        ['gw without limits', (await openBench(free, upstream)).aim],
        ['gw, limits on every level, embedded', limited],
        ...(inRedis ? [['gw, limits on every level, in Redis', inRedis] as [string, Aim]] : []),
      ],
      {},
      load,
    );
    printTable('Limits on key, workspace, provider and by policies, two each', levels);
    const ten = await withPolicies(await openBench(few, upstream), fewPolicies);
    const thousands = await withPolicies(await openBench(many, upstream), manyPolicies);
    const policies = await compare(
      [
        ['bare forwarder', bare],
        [`gw, ${fewPolicies} policies`, ten],
        [`gw, ${manyPolicies} policies`, thousands],
      ],
      {},
      load,
    );
    printTable('Policies in the workspace, of which two match', policies);
    return { levels, policies };
  } finally {
    await Promise.all([free, embedded, few, many, shared, forwarder, upstream].map((child) => child?.stop()));
    await redis?.kill();
  }
}

interface Bench {
  aim: Aim;
  keyId: string;
  workspaceId: string;
  admin(method: string, path: string, body?: object): Promise<Reply>;
}

interface Reply {
  id: string;
  key: string;
  data: { id: string }[];
}

/** A saved provider `@first` and a key of its own. */
export async function openBench(program: Child, upstream: Child): Promise<Bench> {
  const adminKey = /admin key\s+(\S+)/.exec(program.greeting)?.[1] ?? '';
  const admin = async (method: string, path: string, body?: object) => {
    const response = await fetch(`http://127.0.0.1:${program.port}/v1${path}`, {
      method,
      headers: { 'x-gw-api-key': adminKey, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const reply = (await response.json()) as Reply;
    if (response.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(reply)}`);
    return reply;
  };
  const workspaceId = (await admin('GET', '/workspaces')).data[0]?.id ?? '';
  await admin('POST', '/integrations', {
    name: 'first',
    slug: 'first',
    ai_provider_id: 'openai',
    key: 'sk-bench',
    workspace_id: workspaceId,
    default_provider_slug: 'first',
    configurations: { custom_host: `http://127.0.0.1:${upstream.port}/v1` },
  });
  const { id: keyId, key } = await admin('POST', '/api-keys/workspace/service', {
    name: 'bench',
    workspace_id: workspaceId,
    scopes: ['completions.write'],
  });
  const headers = { 'x-gw-api-key': key, 'x-gw-provider': '@first' };
  return { aim: { child: program, headers }, keyId, workspaceId, admin };
}

const rate_limits = [{ type: 'requests', unit: 'rpd', value: plenty }];
const budget = { type: 'cost', credit_limit: plenty / 1e6 };

async function onEveryLevel({ aim, keyId, workspaceId, admin }: Bench): Promise<Aim> {
  await admin('PUT', `/api-keys/${keyId}`, { rate_limits, usage_limits: budget });
  await admin('PUT', `/workspaces/${workspaceId}`, { rate_limits, usage_limits: [budget] });
  await admin('PUT', `/providers/first?workspace_id=${workspaceId}`, { rate_limits, usage_limits: budget });
  const common = { workspace_id: workspaceId, group_by: [{ key: 'api_key' }] };
  await admin('POST', '/policies/rate-limits', {
    ...common,
    conditions: [{ key: 'api_key', value: keyId }],
    type: 'tokens',
    unit: 'rpd',
    value: plenty,
  });
  await admin('POST', '/policies/usage-limits', {
    ...common,
    conditions: [{ key: 'model', value: '@first/*' }],
    type: 'tokens',
    credit_limit: plenty,
  });
  return aim;
}

const atOnce = 16;

/** Two that match, and others for keys and models that nobody uses. */
async function withPolicies({ aim, keyId, workspaceId, admin }: Bench, count: number): Promise<Aim> {
  const save = (conditions: object[]) =>
    admin('POST', '/policies/usage-limits', {
      workspace_id: workspaceId,
      conditions,
      type: 'tokens',
      credit_limit: plenty,
    });
  await save([{ key: 'api_key', value: keyId }]);
  await save([{ key: 'model', value: '@first/gpt-4o-mini' }]);
  for (let made = 2; made < count; made += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, count - made) }, (_, n) =>
      save([
        (made + n) % 2 === 0
          ? { key: 'metadata.team', value: `team-${made + n}` }
          : { key: 'model', value: `@first/model-${made + n}` },
      ]),
    );
    await Promise.all(some);
  }
  return aim;
}
