import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Plane, savedProvider, startPlane } from '../../../test/gateway-deps.ts';
import { askedPath, dedicatedRoute, remainingRoute } from './receive.ts';

const routeOf = (method: string, url: string) => {
  const asked = askedPath(url);
  return asked && (dedicatedRoute(method, asked) ?? remainingRoute(asked));
};

test.each([
  ['POST', '/v1/chat/completions', 'chatComplete', '/chat/completions'],
  ['POST', '/v1/v1/chat/completions', 'chatComplete', '/chat/completions'],
  ['POST', '/v1/v1/messages', 'messages', '/messages'],
  ['POST', '/v1/chat/completions?a=1', 'chatComplete', '/chat/completions'],
  ['POST', '/v1/speech', 'createSpeech', '/audio/speech'],
  ['POST', '/v1/proxy/chat/completions', 'proxy', '/chat/completions'],
  ['GET', '/v1/catalogs?x=1', 'proxy', '/catalogs'],
  ['PATCH', '/v1/chat/completions', 'proxy', '/chat/completions'],
  ['GET', '/v1/files/f1/content', 'retrieveFileContent', '/files/:id/content'],
] as const)('%s %s is %s', (method, url, kind, upstreamPath) => {
  expect(routeOf(method, url)?.route).toMatchObject({ kind, upstreamPath });
});

test.each(['/', '/v1', '/v2/x', '/docs', '/v10/x'])('%s lies outside', (path) => {
  expect(askedPath(path)).toBeNull();
});

describe('ids', () => {
  let plane: Plane;
  beforeAll(() => {
    plane = startPlane({ settings: { headerPrefixAliases: ['x-acme-'] } });
    plane.providers.set('s', savedProvider('s', { provider: 'sandbox', credential: null }));
  });
  afterAll(() => plane.stop());

  const trace = '0af7651916cd43dd8448eb211c80319c';
  const span = 'b7ad6b7169203331';
  const call = async (headers: Record<string, string>) => {
    const response = await plane.call('/v1/chat/completions', { model: '@s/echo', messages: [] }, headers);
    const [record] = await plane.settled();
    return { response, metrics: record?.metrics };
  };

  test('traceparent gives the trace and the parent; the span is new', async () => {
    const { response, metrics } = await call({ traceparent: `00-${trace}-${span}-01` });
    expect(metrics).toMatchObject({ trace_id: trace, parent_span_id: span, span_name: 'POST /v1/chat/completions' });
    expect(metrics?.span_id).not.toBe(span);
    expect(response.headers.get('x-gw-trace-id')).toBe(trace);
  });

  test('our own headers win over it', async () => {
    const { metrics } = await call({
      traceparent: `00-${trace}-${span}-01`,
      'x-gw-trace-id': 't',
      'x-gw-span-id': 's',
      'x-gw-parent-span-id': 'p',
      'x-gw-span-name': 'n',
    });
    expect(metrics).toMatchObject({ trace_id: 't', span_id: 's', parent_span_id: 'p', span_name: 'n' });
  });

  test.each([
    ['an unknown form', 'nonsense'],
    ['version ff', `ff-${trace}-${span}-01`],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${span}-01`],
    ['a parent of zeros', `00-${trace}-${'0'.repeat(16)}-01`],
  ])('%s in traceparent is ignored', async (_, traceparent) => {
    const { response, metrics } = await call({ traceparent });
    expect(metrics?.trace_id).toBe(response.headers.get('x-gw-request-id') ?? '');
    expect(metrics?.parent_span_id).toBe('');
  });

  test('names that are too long for a log are cut', async () => {
    const long = 'x'.repeat(2_000);
    const { response, metrics } = await call({
      'x-gw-trace-id': long,
      'x-gw-span-id': long,
      'x-gw-parent-span-id': long,
      'x-gw-span-name': long,
      'x-gw-runtime': long,
    });
    const short = 'x'.repeat(512);
    expect(metrics).toMatchObject({ trace_id: short, span_id: short, parent_span_id: short, span_name: short });
    expect([metrics?.runtime.length, response.headers.get('x-gw-trace-id')]).toEqual([128, short]);
  });

  test('an empty trace id counts as absent', async () => {
    const { metrics } = await call({ 'x-gw-trace-id': '' });
    expect(metrics?.trace_id).not.toBe('');
  });

  test('a client with another prefix is answered with it', async () => {
    const { response } = await call({ 'x-acme-trace-id': 't' });
    expect(response.headers.get('x-acme-trace-id')).toBe('t');
    expect(response.headers.get('x-acme-last-used-option-index')).toBe('config');
    expect(response.headers.get('x-gw-trace-id')).toBeNull();
  });
});
