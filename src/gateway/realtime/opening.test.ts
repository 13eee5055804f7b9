import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { type SimulatedRealtime, startRealtime } from '../../../test/providers/realtime.ts';
import { handshake, RealtimeClient } from '../../../test/realtime-client.ts';
import { adminKey, type RealtimeWorld, startRealtimeWorld, workspaceKey } from '../../../test/realtime-world.ts';
import { freePort } from '../../../test/servers/free-port.ts';

const withKey = { 'x-gw-api-key': workspaceKey };
const fallbackTargets = [{ provider: '@a' }, { provider: '@b' }];

let a: SimulatedRealtime;
let b: SimulatedRealtime;
let world: RealtimeWorld;
let address: string;

beforeAll(async () => {
  a = startRealtime();
  b = startRealtime();
  world = startRealtimeWorld(
    {
      a: { url: a.url, more: { customHeaders: { 'x-tenant': 'blue' } } },
      b: { url: b.url },
      nowhere: { url: `http://127.0.0.1:${await freePort()}/v1` },
      pinned: { url: a.url.replace('127.0.0.1', 'pinned.example') },
      forbidden: { url: 'http://10.0.0.1/v1' },
      narrow: { url: a.url, more: { models: { allowAll: false, bySlug: new Map() } } },
    },
    {
      fallback: { strategy: { mode: 'fallback' }, targets: fallbackTargets },
      'fallback-on-429': { strategy: { mode: 'fallback', on_status_codes: [429] }, targets: fallbackTargets },
      conditional: {
        strategy: {
          mode: 'conditional',
          // biome-ignore lint/suspicious/noThenProperty: the wire's word; a condition is never awaited
          conditions: [{ query: { 'params.model': { $eq: 'gpt-realtime-mini' } }, then: 'second' }],
          default: 'first',
        },
        targets: [
          { name: 'first', provider: '@a' },
          { name: 'second', provider: '@b', override_params: { model: 'gpt-realtime' } },
        ],
      },
      persistent: { provider: '@a', retry: { attempts: 2, on_status_codes: [429] } },
      impatient: { provider: '@a', request_timeout: 100 },
    },
  );
  address = `${world.url}/v1/realtime`;
});

afterEach(() => {
  a.refuse(null);
  a.ignore(false);
  a.handshakes.length = 0;
  b.handshakes.length = 0;
});

afterAll(async () => {
  await world.stop();
  await a.stop();
  await b.stop();
  expect(world.faults).toEqual([]);
});

/** Opens a session, closes it, and tells how the provider was asked. */
async function asked(
  simulated: SimulatedRealtime,
  query: string,
  headers: Record<string, string> = withKey,
  protocols: string[] = [],
) {
  const opening = simulated.session();
  const client = await RealtimeClient.open(world.socketUrl + query, headers, protocols);
  const session = await opening;
  client.socket.close();
  await session.closed;
  await world.idle();
  return { ...session, protocol: client.socket.protocol };
}

/** The status and the error's code of a handshake that is refused. */
async function refused(query: string, headers: Record<string, string>) {
  const response = await handshake(address + query, headers);
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return { status: response.status, code: error.code, message: error.message, headers: response.headers };
}

describe('the provider', () => {
  test("is asked under its own name of the model, with its own credential and the integration's headers", async () => {
    const { path, query, headers } = await asked(a, '?model=@a/gpt-realtime&intent=conversation&x=%20y');
    expect(path).toBe('/v1/realtime');
    expect(query).toBe('?model=gpt-realtime&intent=conversation&x=%20y');
    expect(headers).toMatchObject({ authorization: 'Bearer sk-a-secret', 'x-tenant': 'blue' });
    expect(JSON.stringify(headers)).not.toContain(workspaceKey);
    expect(Object.keys(headers).filter((name) => name.startsWith('x-gw-'))).toEqual([]);
  });

  test('is named by a header', async () => {
    const { query } = await asked(a, '?model=gpt-realtime', { ...withKey, 'x-gw-provider': '@a' });
    expect(query).toBe('?model=gpt-realtime');
  });

  test('gets one model, the first, however often the query names one', async () => {
    const { query } = await asked(a, '?model=@a/gpt-realtime&model=other&%6dodel=third');
    expect(query).toBe('?model=gpt-realtime');
  });

  test.each(['x-gw-openai-beta', 'openai-beta'])('gets the beta that %s names', async (header) => {
    const { headers } = await asked(a, '?model=@a/gpt-realtime', { ...withKey, [header]: 'realtime=v1' });
    expect(headers['openai-beta']).toBe('realtime=v1');
  });

  test('is chosen by a condition on the query, with the model that the target sets', async () => {
    const headers = { ...withKey, 'x-gw-config': 'conditional' };
    expect((await asked(b, '?model=gpt-realtime-mini', headers)).query).toBe('?model=gpt-realtime');
    expect((await asked(a, '?model=gpt-realtime-2', headers)).query).toBe('?model=gpt-realtime-2');
  });

  test('is told nothing of the subprotocol that carries our key, and its choice among the others counts', async () => {
    const key = `openai-insecure-api-key.${workspaceKey}`;
    const offered = ['realtime', key, 'openai-beta.realtime-v1'];
    const { headers, protocol } = await asked(a, '?model=@a/gpt-realtime', {}, offered);
    expect(headers['sec-websocket-protocol']).toMatch(/^realtime, ?openai-beta\.realtime-v1$/);
    expect(protocol).toBe('realtime');
  });

  test('may take no subprotocol, and then the one that was meant for us is taken', async () => {
    const key = `openai-insecure-api-key.${workspaceKey}`;
    const { headers, protocol } = await asked(a, '?model=@a/gpt-realtime', {}, [key]);
    expect(headers['sec-websocket-protocol']).toBeUndefined();
    expect(protocol).toBe(key);
  });

  test('is told nothing of a key in the query', async () => {
    const { query } = await asked(a, `?api_key=${workspaceKey}&model=@a/gpt-realtime&api%5Fkey=again`, {});
    expect(query).toBe('?model=gpt-realtime');
  });
});

describe('the answer to the handshake', () => {
  const taken = '?model=@a/gpt-realtime';

  test('carries the trace, the path of the target and its provider', async () => {
    const response = await rawHandshake(taken, { ...withKey, 'x-gw-trace-id': 'trace-1' });
    expect(response).toStartWith('HTTP/1.1 101');
    expect(response).toContain('x-gw-trace-id: trace-1');
    expect(response).toContain('x-gw-last-used-option-index: config');
    expect(response).toContain('x-gw-provider: openai');
  });

  test('takes no subprotocol that neither the provider nor we took', async () => {
    const response = await rawHandshake(taken, { ...withKey, 'sec-websocket-protocol': 'unheard-of' });
    expect(response).toStartWith('HTTP/1.1 101');
    expect(response.toLowerCase()).not.toContain('sec-websocket-protocol');
    // The handshake was made again without offers.
    await (await a.session()).closed;
  });

  test('is 401 for a wrong key, wherever it stands', async () => {
    expect(await refused(taken, { 'x-gw-api-key': 'wrong' })).toMatchObject({ status: 401, code: 'invalid_api_key' });
    expect(await refused(`${taken}&api_key=wrong`, {})).toMatchObject({ status: 401 });
    const protocol = { 'sec-websocket-protocol': 'realtime, openai-insecure-api-key.wrong' };
    expect(await refused(taken, protocol)).toMatchObject({ status: 401 });
    expect(await refused(taken, {})).toMatchObject({ status: 401 });
    expect(a.handshakes).toEqual([]);
  });

  test('is 403 for an admin key', async () => {
    expect(await refused(taken, { 'x-gw-api-key': adminKey })).toMatchObject({
      status: 403,
      code: 'key_type_not_allowed',
    });
  });

  test('is 426 when the request is no WebSocket handshake', async () => {
    const response = await fetch(address + taken, { headers: withKey });
    expect(response.status).toBe(426);
    expect(response.headers.get('upgrade')).toBe('websocket');
    expect((await response.json()) as object).toMatchObject({ error: { code: 'upgrade_required' } });
    expect(await refused(taken, { ...withKey, 'sec-websocket-version': '8' })).toMatchObject({ status: 426 });
    expect(await refused(taken, { ...withKey, 'sec-websocket-key': 'short' })).toMatchObject({ status: 426 });
    const noBytes = '?'.repeat(24);
    expect(await refused(taken, { ...withKey, 'sec-websocket-key': noBytes })).toMatchObject({ status: 426 });
    expect(a.handshakes).toEqual([]);
  });

  test('is 400 for a subprotocol that is no token', async () => {
    const headers = { ...withKey, 'sec-websocket-protocol': 'real time' };
    expect(await refused(taken, headers)).toMatchObject({ status: 400, code: 'invalid_subprotocol' });
  });

  test('is 400 when nothing names a provider, or names one that is not there', async () => {
    expect(await refused('?model=gpt-realtime', withKey)).toMatchObject({ status: 400, code: 'missing_provider' });
    expect(await refused('?model=@gone/m', withKey)).toMatchObject({ status: 400, code: 'provider_not_found' });
  });

  test('is 403 for a model that is not enabled', async () => {
    const query = '?model=@narrow/gpt-realtime';
    expect(await refused(query, withKey)).toMatchObject({ status: 403, code: 'model_not_allowed' });
  });

  test('is 400 for a custom host that must not be called', async () => {
    const query = '?model=@forbidden/gpt-realtime';
    expect(await refused(query, withKey)).toMatchObject({ status: 400, code: 'invalid_custom_host' });
  });

  test.each([401, 403, 429, 503])("is the provider's %d, in its own words", async (status) => {
    a.refuse(status);
    const answer = await refused(taken, { ...withKey, 'x-gw-trace-id': `refused-${status}` });
    expect(answer).toMatchObject({ status, code: 'refused', message: `Refused with ${status}` });
    expect(answer.headers.get('x-gw-provider')).toBe('openai');
    await world.idle();
    const records = world.records.filter(({ metrics }) => metrics.trace_id === `refused-${status}`);
    expect(records.map(({ metrics }) => metrics.response_status_code)).toEqual([status]);
  });

  test('is 502 when the provider answers the handshake with a success that is none', async () => {
    a.refuse(200);
    expect(await refused(taken, withKey)).toMatchObject({ status: 502, code: 'upstream_refused' });
  });

  test('is 502 when the provider cannot be reached', async () => {
    expect(await refused('?model=@nowhere/gpt-realtime', withKey)).toMatchObject({
      status: 502,
      code: 'upstream_unreachable',
    });
  });

  test('is 408 when the provider does not answer in time', async () => {
    a.ignore(true);
    const headers = { ...withKey, 'x-gw-config': 'impatient' };
    expect(await refused('?model=gpt-realtime', headers)).toMatchObject({ status: 408, code: 'request_timeout' });
  });
});

describe('fallback', () => {
  const headers = { ...withKey, 'x-gw-config': 'fallback', 'x-gw-trace-id': 'fallback' };

  test('goes on to the next target when a handshake fails', async () => {
    a.refuse(503);
    const { query } = await asked(b, '?model=gpt-realtime', headers);
    expect(query).toBe('?model=gpt-realtime');
    expect(a.handshakes).toHaveLength(1);
    const records = world.records.filter(({ metrics }) => metrics.trace_id === 'fallback');
    expect(
      records.map(({ metrics }) => [metrics.last_used_option_path, metrics.response_status_code, metrics.virtual_key]),
    ).toEqual([
      ['config.targets[0]', 503, 'a'],
      ['config.targets[1]', 101, 'b'],
    ]);
  });

  test('stays with the first target when it accepts', async () => {
    await asked(a, '?model=gpt-realtime', headers);
    expect(b.handshakes).toEqual([]);
  });

  test('goes on only with the statuses that the config lists', async () => {
    a.refuse(401);
    const listed = { ...withKey, 'x-gw-config': 'fallback-on-429' };
    expect(await refused('?model=gpt-realtime', listed)).toMatchObject({ status: 401 });
    a.refuse(429);
    await asked(b, '?model=gpt-realtime', listed);
  });
});

test('a refused handshake is tried again as the config says', async () => {
  a.refuse(429);
  const answer = await refused('?model=gpt-realtime', { ...withKey, 'x-gw-config': 'persistent' });
  expect(answer.status).toBe(429);
  expect(answer.headers.get('x-gw-retry-attempt-count')).toBe('-1');
  // Three tries, and once more for the words of the last refusal.
  expect(a.handshakes).toHaveLength(4);
});

test('a host that was looked up is dialled at the address that was checked, under its own name', async () => {
  const { host } = new URL(a.url);
  const { headers } = await asked(a, '?model=@pinned/gpt-realtime');
  expect(headers.host).toBe(host.replace('127.0.0.1', 'pinned.example'));
});

test('a client that leaves during the handshake leaves no session behind', async () => {
  a.ignore(true);
  const leaving = new AbortController();
  const waiting = handshake(`${address}?model=@a/gpt-realtime`, withKey, leaving.signal).catch((fault) => fault.name);
  while (a.handshakes.length === 0) await Bun.sleep(1);
  leaving.abort();
  expect(await waiting).toBe('AbortError');
  while (world.records.at(-1)?.metrics.response_status_code !== 499) await Bun.sleep(1);
  await world.idle();
});

/** Opens a session at `a` and leaves it; the head of the answer, byte by byte as it came. */
async function rawHandshake(query: string, headers: Record<string, string>): Promise<string> {
  const opening = a.session();
  const { hostname, port } = new URL(world.url);
  const all = {
    host: 'gw',
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'MDEyMzQ1Njc4OWFiY2RlZg==',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const answer = await new Promise<string>((resolve) => {
    let head = '';
    void Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open: (socket) => void socket.write(`GET /v1/realtime${query} HTTP/1.1\r\n${lines.join('')}\r\n`),
        data(socket, bytes) {
          head += bytes.toString('latin1');
          const end = head.indexOf('\r\n\r\n');
          if (end === -1) return;
          socket.end();
          resolve(head.slice(0, end));
        },
      },
    });
  });
  await (await opening).closed;
  await world.idle();
  return answer;
}
