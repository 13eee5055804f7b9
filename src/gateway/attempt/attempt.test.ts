import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type Plane, savedProvider, startPlane } from '../../../test/gateway-deps.ts';
import * as openai from '../../../test/providers/openai.ts';
import {
  type Behaviour,
  bytes,
  json,
  reset,
  type SimulatedProvider,
  silence,
  startProvider,
  stream,
} from '../../../test/providers/simulated.ts';

let plane: Plane;
let a: SimulatedProvider;

beforeAll(async () => {
  a = await startProvider(openai.says('fine'));
  plane = startPlane();
  plane.providers.set('a', savedProvider('a', { customHost: a.url }));
});
afterAll(async () => {
  await plane.stop();
  await a.stop();
});
beforeEach(() => {
  a.calls.length = 0;
  plane.waits.length = 0;
});
afterEach(() => {
  expect(plane.faults).toEqual([]);
});

const question = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Tell me.' }] };

const ask = (more: object, body: unknown = question, headers: Record<string, string> = {}) =>
  plane.call('/v1/chat/completions', body, {
    'x-gw-config': plane.saveConfig({ provider: '@a', ...more }),
    ...headers,
  });

const fine = openai.says('fine');
const down = openai.unavailable;
const wrong = json(400, { error: { message: 'wrong' } });
const wait = (headers: Record<string, string>) => openai.rateLimited(headers);

describe('retries', () => {
  const flag = { use_retry_after_header: true };
  const rows: [
    title: string,
    retry: object | null,
    upstream: Behaviour[],
    calls: number,
    waits: number[],
    status: number,
    count: string,
  ][] = [
    ['none allowed: a 503 is the answer', null, [down], 1, [], 503, '0'],
    ['a success is not repeated', { attempts: 3 }, [fine], 1, [], 200, '0'],
    ['503, then a success', { attempts: 3 }, [down, fine], 2, [1], 200, '1'],
    ['503 three times, then a success', { attempts: 3 }, [down, down, down, fine], 4, [1, 2, 4], 200, '3'],
    ['503 until they are used up', { attempts: 3 }, [down], 4, [1, 2, 4], 503, '-1'],
    ['503, then a 400 that is not retried', { attempts: 3 }, [down, wrong], 2, [1], 400, '1'],
    ['a 400 is not retried', { attempts: 3 }, [wrong], 1, [], 400, '0'],
    ['no answer in time is not retried', { attempts: 3 }, [silence], 1, [], 408, '0'],
    [
      'no answer in time is retried where 408 is listed',
      { attempts: 3, on_status_codes: [408] },
      [silence, fine],
      2,
      [1],
      200,
      '1',
    ],
    ['an empty list retries nothing', { attempts: 3, on_status_codes: [] }, [down], 1, [], 503, '0'],
    [
      'waits that a provider asks for end at a minute together',
      { attempts: 3, ...flag },
      [wait({ 'retry-after': '20' }), wait({ 'retry-after': '50' })],
      2,
      [20],
      429,
      '-1',
    ],
    [
      'a wait of more than a minute is not kept',
      { attempts: 3, ...flag },
      [wait({ 'retry-after': '70' })],
      1,
      [],
      429,
      '-1',
    ],
    ['without a header the ordinary wait counts', { attempts: 3, ...flag }, [wait({}), fine], 2, [1], 200, '1'],
    ['retry-after-ms is kept', { attempts: 3, ...flag }, [wait({ 'retry-after-ms': '500' }), fine], 2, [0.5], 200, '1'],
    [
      'x-ms-retry-after-ms is kept',
      { attempts: 3, ...flag },
      [wait({ 'x-ms-retry-after-ms': '250' }), fine],
      2,
      [0.25],
      200,
      '1',
    ],
    ['an empty header counts as none', { attempts: 3, ...flag }, [wait({ 'retry-after': '' }), fine], 2, [1], 200, '1'],
    [
      'without the flag the header does not count',
      { attempts: 3 },
      [wait({ 'retry-after': '20' }), fine],
      2,
      [1],
      200,
      '1',
    ],
    ['nine are clamped to five', { attempts: 9 }, [down], 6, [1, 2, 4, 8, 16], 503, '-1'],
    ['none allowed is not the same as used up', { attempts: 0 }, [down], 1, [], 503, '0'],
    ['a connection that is reset is retried', { attempts: 1 }, [reset, fine], 2, [1], 200, '1'],
    [
      'a reset is retried whatever statuses are listed',
      { attempts: 1, on_status_codes: [429] },
      [reset, fine],
      2,
      [1],
      200,
      '1',
    ],
  ];
  test.each(rows)('%s', async (_, retry, upstream, calls, waits, status, count) => {
    a.script(...upstream);
    const response = await ask({
      ...(upstream.includes(silence) && { request_timeout: 1_000 }),
      ...(retry && { retry }),
    });
    expect({
      calls: a.calls.length,
      waits: plane.waits.map((ms) => ms / 1000),
      status: response.status,
      count: response.headers.get('x-gw-retry-attempt-count'),
    }).toEqual({ calls, waits, status, count });
  });

  test('a header asks for them too, where the config says nothing of them', async () => {
    const header = { 'x-gw-retry-count': '9' };
    a.script(down);
    expect((await ask({}, question, header)).headers.get('x-gw-retry-attempt-count')).toBe('-1');
    expect([a.calls.length, plane.waits]).toEqual([6, [1_000, 2_000, 4_000, 8_000, 16_000]]);
    await ask({ retry: { attempts: 1 } }, question, header);
    expect(a.calls.length).toBe(8);
    await ask({}, question, { 'x-gw-retry-count': 'many' });
    expect(a.calls.length).toBe(9);
  });

  test('a date in retry-after is waited for', async () => {
    plane.clock.moveTo('2030-01-01T00:00:00.000Z');
    a.script(wait({ 'retry-after': 'Tue, 01 Jan 2030 00:00:30 GMT' }), fine);
    await ask({ retry: { attempts: 1, ...flag } });
    expect(plane.waits[0]).toBeGreaterThan(29_000);
    expect(plane.waits[0]).toBeLessThanOrEqual(30_000);
  });

  test('what we refuse ourselves is not asked again', async () => {
    plane.providers.set('over', savedProvider('over', { status: 'expired' }));
    const response = await ask({ provider: '@over', retry: { attempts: 3, on_status_codes: [400] } });
    expect([response.status, plane.waits]).toEqual([400, []]);
  });

  test('retries of one target are one record, with the answer of the last', async () => {
    a.script(down, fine);
    await plane.settled();
    await ask({ retry: { attempts: 1 } });
    const records = await plane.settled();
    expect(records.map(({ metrics }) => [metrics.response_status_code, metrics.retry_success_count])).toEqual([
      [200, 1],
    ]);
    expect(records[0]?.metrics.total_units).toBe(30);
  });

  test('an upload that can be sent only once is not retried', async () => {
    a.script(down);
    const upload = new FormData();
    upload.set('file', new Blob(['data']), 'a.jsonl');
    const response = await plane.call(
      '/v1/files',
      undefined,
      {
        'x-gw-config': plane.saveConfig({ provider: '@a', retry: { attempts: 3 } }),
      },
      { method: 'POST', body: upload },
    );
    expect([response.status, a.calls.length]).toEqual([503, 1]);
  });
});

describe('answers that are none', () => {
  test('a JSON answer that breaks off is no success', async () => {
    a.script((_, response) => {
      response.socket?.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"id":"chatcmpl-1","choi');
    });
    const response = await ask({});
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_provider_response' } });
  });

  test.each([
    ['content-length', 'content-length: 500'],
    ['chunks', 'transfer-encoding: chunked'],
  ])('an answer shorter than its %s says is no success', async (_, header) => {
    a.script((__, response) => {
      const body = header.startsWith('content') ? '{"id"' : '5\r\n{"id"\r\n';
      response.socket?.end(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${header}\r\n\r\n${body}`);
    });
    const response = await ask({});
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ error: { code: 'upstream_unreachable' } });
  });

  test('a status that HTTP does not know is a bad answer, not a fault of ours', async () => {
    a.script((_, response) => void response.socket?.end('HTTP/1.1 799 Odd\r\ncontent-length: 2\r\n\r\nhi'));
    expect((await ask({})).status).toBe(502);
  });

  test('an answer without content stays one', async () => {
    a.script(bytes(204, '', {}));
    const response = await plane.call('/v1/files/file-1', undefined, { 'x-gw-provider': '@a' }, { method: 'DELETE' });
    expect([response.status, await response.text()]).toEqual([204, '']);
  });

  test('a stream without a single event is a failed answer', async () => {
    a.script(stream([]));
    expect((await ask({}, { ...question, stream: true })).status).toBe(502);
  });

  test('comments and pings in front do not hide that the first event is an error', async () => {
    a.script(
      stream([': processing\n\n', ': processing\n\n', 'data: {"error":{"message":"no","type":"overloaded"}}\n\n']),
    );
    const response = await ask({}, { ...question, stream: true });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ error: { type: 'overloaded' } });
  });

  test('comments in front of the answer reach the client with it', async () => {
    a.script(stream([': processing\n\n', ...openai.wholeStream(['Hi'])]));
    const response = await ask({}, { ...question, stream: true });
    expect(await response.text()).toBe(
      `: processing\n\n${openai.wholeStream(['Hi']).join('').replace(openai.usage, '')}`,
    );
  });
});

describe('time', () => {
  test('a first token that does not come is given up although the head never came either', async () => {
    a.script(silence);
    const response = await ask({ first_token_timeout: 100 }, { ...question, stream: true });
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ error: { code: 'first_token_timeout' } });
  });

  test('comments are no token', async () => {
    a.script(stream([': processing\n\n'], 'stall'));
    const response = await ask({ first_token_timeout: 100 }, { ...question, stream: true });
    expect(response.status).toBe(504);
  });

  test('the timeout covers the whole body of an answer that is no stream', async () => {
    a.script((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{');
    });
    const response = await ask({ request_timeout: 100 });
    expect(response.status).toBe(408);
    expect(await response.json()).toMatchObject({
      error: { type: 'timeout_error', message: 'Gateway error: the provider did not answer within 100 ms' },
    });
  });

  test('the header beats the config, on every target', async () => {
    a.script(silence);
    const response = await ask({ request_timeout: 60_000 }, question, { 'x-gw-request-timeout': '100' });
    expect(response.status).toBe(408);
  });

  test('the client leaves: the upstream call is closed at once, and nothing is billed', async () => {
    let asked: () => void = () => undefined;
    const arrived = new Promise<void>((resolve) => {
      asked = resolve;
    });
    a.script(() => asked());
    await plane.settled();
    const leaving = new AbortController();
    const call = plane
      .call('/v1/chat/completions', question, { 'x-gw-provider': '@a' }, { signal: leaving.signal })
      .catch(() => null);
    await arrived;
    leaving.abort();
    await call;
    await a.calls[0]?.abandoned;
    const [record] = await plane.settled();
    expect([record?.metrics.response_status_code, record?.metrics.cost]).toEqual([499, 0]);
  });
});
