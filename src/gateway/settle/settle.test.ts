import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type Plane, savedProvider, startPlane, workspaceKey } from '../../../test/gateway-deps.ts';
import * as anthropic from '../../../test/providers/anthropic.ts';
import * as openai from '../../../test/providers/openai.ts';
import { bytes, json, type SimulatedProvider, startProvider, stream } from '../../../test/providers/simulated.ts';
import { keptBodies } from '../../logs/messages.ts';
import { knownPreviewsOf, previewsOf } from '../../logs/preview.ts';
import type { LogRecord } from '../../logs/record.ts';

let plane: Plane;
let a: SimulatedProvider;
let b: SimulatedProvider;

beforeAll(async () => {
  a = await startProvider(openai.says('from a'));
  b = await startProvider(openai.says('from b'));
  plane = startPlane({ settings: { maskedHeaders: ['x-operator'] } });
  plane.providers.set('a', savedProvider('a', { customHost: a.url }));
  plane.providers.set('b', savedProvider('b', { customHost: b.url }));
  plane.providers.set('claude', savedProvider('claude', { provider: 'anthropic', customHost: a.url }));
});
afterAll(async () => {
  await plane.stop();
  await a.stop();
  await b.stop();
});
beforeEach(async () => {
  await plane.settled();
  plane.settings = { ...plane.settings, request_logging: 'full', enforce_debug_log_setting: false };
  a.script(openai.says('from a'));
  b.script(openai.says('from b'));
});
afterEach(() => {
  expect(plane.faults).toEqual([]);
});

const question = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Tell me.' }] };
const chat = '/v1/chat/completions';

async function records(path: string, body: unknown, headers: Record<string, string> = {}): Promise<LogRecord[]> {
  const response = await plane.call(path, body, { 'x-gw-provider': '@a', ...headers });
  await response.arrayBuffer();
  return plane.settled();
}

async function recordOf(...asked: Parameters<typeof records>): Promise<LogRecord> {
  const [record] = await records(...asked);
  if (!record) throw new Error('nothing was recorded');
  return record;
}

const textOf = (body: Uint8Array | null | undefined) => Buffer.from(body ?? []).toString();

describe('the record', () => {
  test('says who asked whom for what, and what it cost', async () => {
    const { metrics } = await recordOf(chat, question, {
      'x-gw-runtime': 'node',
      'x-gw-runtime-version': '24',
      'x-gw-sdk-version': '1.2',
    });
    expect(metrics).toMatchObject({
      organisation_id: 'organisation-1',
      workspace_id: 'workspace-1',
      workspace_slug: 'test-workspace',
      api_key_id: 'key-1',
      is_success: true,
      endpoint_type: 'chatComplete',
      ai_org: 'openai',
      ai_model: 'gpt-4o-mini',
      req_units: 20,
      res_units: 10,
      total_units: 30,
      usage_estimated: false,
      request_url: `${a.url}/chat/completions`,
      request_method: 'POST',
      response_status_code: 200,
      is_proxy_call: false,
      cache_status: 'DISABLED',
      stream_mode: 0,
      retry_success_count: 0,
      mode: 'single',
      virtual_key: 'a',
      integration_id: 'integration-a',
      config: '',
      last_used_option_path: 'config',
      source: 'gateway',
      runtime: 'node',
      runtime_version: '24',
      sdk_version: '1.2',
      error_message: null,
    });
    expect(metrics.cost).toBeGreaterThan(0);
    expect(metrics.response_time).toBeGreaterThanOrEqual(metrics.upstream_response_time);
  });

  test('of a stream has its usage, its first token and its mode', async () => {
    const { metrics } = await recordOf(chat, { ...question, stream: true });
    expect(metrics).toMatchObject({ total_units: 30, stream_mode: 1, usage_estimated: false, ai_model: 'gpt-4o-mini' });
    expect(metrics.first_token_time).toBeGreaterThan(0);
  });

  test('of a messages stream counts what its cache read', async () => {
    a.script(stream(anthropic.wholeStream(['Hi'])));
    const { metrics } = await recordOf('/v1/messages', { ...question, stream: true }, { 'x-gw-provider': '@claude' });
    expect(metrics).toMatchObject({ req_units: 25, res_units: 15, endpoint_type: 'messages' });
  });

  test('of a stream without usage is estimated by its words', async () => {
    a.script(stream([openai.opening, openai.part('word '.repeat(10)), openai.finish, openai.done]));
    const { metrics } = await recordOf(chat, { ...question, stream: true });
    expect([metrics.usage_estimated, metrics.res_units]).toEqual([true, 10]);
  });

  test('of a whole answer without usage is estimated too, and a picture is no million of tokens', async () => {
    const choices = [{ index: 0, message: { role: '', content: 'word '.repeat(40) }, finish_reason: '' }];
    a.script(json(200, { choices }));
    const picture = { url: `data:image/png;base64,${'A'.repeat(4_000_000)}` };
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: picture }] }];
    const { metrics } = await recordOf(chat, { ...question, messages });
    expect([metrics.usage_estimated, metrics.res_units]).toEqual([true, 40]);
    expect(metrics.req_units).toBeLessThan(1_100);
  });

  test('of a proxied stream takes the usage from its events', async () => {
    a.script(openai.says('One', ' two'));
    const { metrics } = await recordOf('/v1/proxy/chat/completions', { ...question, stream: true });
    expect(metrics).toMatchObject({ total_units: 30, stream_mode: 1, is_proxy_call: true, source: 'proxy' });
  });

  test('of images and reranking counts their own units', async () => {
    a.script(json(200, { data: [{ b64_json: 'A' }, { b64_json: 'B' }] }));
    expect((await recordOf('/v1/images/generations', { model: 'dall-e-3' })).metrics.usage_estimated).toBe(false);
    a.script(json(200, { results: [], meta: { billed_units: { search_units: 1 } } }));
    expect((await recordOf('/v1/rerank', { model: 'rerank' })).metrics.usage_estimated).toBe(false);
  });

  test('of a transcript costs by the length of its sound: as told by the provider, by the transcript, or by the client', async () => {
    const hear = async (answer: object, headers: Record<string, string> = {}) => {
      a.script(json(200, answer));
      const body = new FormData();
      body.set('model', 'whisper-1');
      body.set('file', new File(['x'], 'x.wav'));
      const asked = { 'x-gw-api-key': workspaceKey, 'x-gw-provider': '@a', ...headers };
      await (await fetch(`${plane.url}/v1/audio/transcriptions`, { method: 'POST', headers: asked, body })).text();
      const [record] = await plane.settled();
      return [record?.metrics.cost, record?.metrics.usage_estimated];
    };
    const header = { 'audio-file-duration': '200' };
    expect(await hear({ text: 'a', usage: { type: 'duration', seconds: 100 } }, header)).toEqual([1, false]);
    expect(await hear({ text: 'a', duration: 100 }, header)).toEqual([1, false]);
    expect(await hear({ text: 'a' }, header)).toEqual([2, true]);
    expect(await hear({ text: 'a' }, { 'audio-file-duration': '-1' })).toEqual([0, false]);
    expect(await hear({ text: 'a', duration: '1e999' })).toEqual([0, false]);
  });

  test('of a custom model is priced as its base', async () => {
    const rule = { enabled: true, baseModel: 'gpt-4o', customHost: null, customHeaders: {}, prices: null };
    const models = { allowAll: false, bySlug: new Map([['mine', rule]]) };
    plane.providers.set('tuned', savedProvider('tuned', { customHost: a.url, models }));
    const { metrics } = await recordOf(chat, { ...question, model: 'mine' }, { 'x-gw-provider': '@tuned' });
    const base = await recordOf(chat, { ...question, model: 'gpt-4o' });
    expect([metrics.ai_model, metrics.cost]).toEqual(['gpt-4o', base.metrics.cost]);
  });

  test('keeps no secret of a query', async () => {
    const { metrics } = await recordOf('/v1/proxy/x?api_key=canary&a=1&sig=2&access_token=canary', { a: 1 });
    expect(metrics.request_url).not.toContain('canary');
    expect(metrics.request_url).toContain('a=1');
  });
});

describe('failures', () => {
  const config = () =>
    plane.saveConfig({ strategy: { mode: 'fallback' }, targets: [{ provider: '@a' }, { provider: '@b' }] });

  test('who failed is not billed, even when it reports usage; who answered is', async () => {
    a.script(json(500, { ...openai.completion('no'), error: { message: 'The server had an error' } }));
    const [failed, answered] = await records(chat, question, { 'x-gw-config': config() });
    expect(failed?.metrics).toMatchObject({ is_success: false, total_units: 0, cost: 0, virtual_key: 'a' });
    expect(failed?.metrics.error_message).toContain('The server had an error');
    expect(answered?.metrics).toMatchObject({ is_success: true, total_units: 30, virtual_key: 'b' });
    expect(failed?.metrics.internal_trace_id).toBe(answered?.metrics.internal_trace_id ?? '');
  });

  test('a refusal of ours is recorded with its words', async () => {
    const [record] = await records(chat, question, { 'x-gw-provider': '@nobody' });
    expect(record?.metrics).toMatchObject({ response_status_code: 400, is_success: false, virtual_key: '' });
    expect(record?.metrics.error_message).toContain('no provider "@nobody"');
  });

  test('a record that cannot be written disturbs nobody', async () => {
    const { sink } = plane.deps;
    plane.deps.sink = {
      append: () => {
        throw new Error('the disk is full');
      },
    };
    const response = await plane.call(chat, question, { 'x-gw-provider': '@a' });
    expect(response.status).toBe(200);
    const streamed = await plane.call(chat, { ...question, stream: true }, { 'x-gw-provider': '@a' });
    expect((await streamed.text()).endsWith('data: [DONE]\n\n')).toBe(true);
    await plane.settled();
    plane.deps.sink = sink;
    expect(plane.faults.splice(0).map(String)).toEqual(['Error: the disk is full', 'Error: the disk is full']);
  });
});

describe('bodies', () => {
  test('both sides are kept as they were', async () => {
    const { bodies } = await recordOf(chat, question);
    expect(textOf(bodies.request?.body)).toBe(JSON.stringify(question));
    expect(textOf(bodies.response?.body)).toContain('from a');
    expect(bodies.transformedRequest).toBeUndefined();
  });

  test('what went upstream is kept where it differs', async () => {
    const { bodies } = await recordOf(chat, { ...question, model: '@a/gpt-4o-mini' }, { 'x-gw-provider': '' });
    expect(JSON.parse(textOf(bodies.transformedRequest?.body))).toEqual(question);
  });

  test('what the provider sent is kept where the client got it in another dialect', async () => {
    a.script(json(200, anthropic.message([{ type: 'text', text: 'Hi' }])));
    const { bodies } = await recordOf(chat, question, { 'x-gw-provider': '@claude' });
    expect(JSON.parse(textOf(bodies.originalResponse?.body))).toMatchObject({ type: 'message' });
    expect(JSON.parse(textOf(bodies.response?.body))).toMatchObject({ object: 'chat.completion' });
    a.script(openai.says('Hi'));
    expect((await recordOf(chat, question)).bodies.originalResponse).toBeUndefined();
  });

  test('a translated call tells what our own time went to; one that needs no translation has none of it', async () => {
    a.script(json(200, anthropic.message([{ type: 'text', text: 'Hi' }])));
    const { metrics } = await recordOf(chat, question, { 'x-gw-provider': '@claude' });
    expect(metrics.timings).toEqual({
      request_parsing: expect.any(Number),
      pre_processing: expect.any(Number),
      cache_processing: null,
      response_parsing: expect.any(Number),
    });
    a.script(openai.says('Hi'));
    expect((await recordOf(chat, question)).metrics.timings?.response_parsing).toBeNull();
  });

  test('of a stream, what the client received', async () => {
    const { bodies } = await recordOf(chat, { ...question, stream: true });
    expect(textOf(bodies.response?.body)).toBe(openai.wholeStream(['from a']).join('').replace(openai.usage, ''));
  });

  test.each([
    ['whole', false],
    ['streamed', true],
  ])('%s, their beginnings are those that a reader of the bytes finds', async (_, stream) => {
    const { bodies } = await recordOf(chat, { ...question, stream });
    const known = knownPreviewsOf(bodies);
    expect(known).not.toContain(null);
    const read = previewsOf(undefined, () => keptBodies(bodies));
    expect(read.answer).not.toBe('');
    expect(known).toEqual([read.prompt, read.answer]);
  });

  test('vectors are not kept', async () => {
    a.script(json(200, { data: [{ embedding: [0.5, 0.25] }], usage: { prompt_tokens: 3, total_tokens: 3 } }));
    const { bodies, metrics } = await recordOf('/v1/embeddings', { model: 'text-embedding-3-small', input: 'x' });
    expect([bodies.response?.body, metrics.req_units]).toEqual([null, 3]);
    expect(bodies.response?.size).toBeGreaterThan(0);
  });

  const modes: [string, () => Record<string, string>][] = [
    ['x-gw-debug: false', () => ({ 'x-gw-debug': 'false' })],
    [
      'metrics only',
      () => {
        plane.settings = { ...plane.settings, request_logging: 'metrics_only' };
        return {};
      },
    ],
  ];
  test.each(modes)('%s: none, except the answer of a call that failed', async (_, mode) => {
    expect((await recordOf(chat, question, mode())).bodies).toEqual({});
    a.script(openai.serverError);
    const { bodies } = await recordOf(chat, question, mode());
    expect(Object.keys(bodies)).toEqual(['response']);
    expect(textOf(bodies.response?.body)).toContain('The server had an error');
  });

  test('where the setting is enforced the header does not count', async () => {
    plane.settings = { ...plane.settings, enforce_debug_log_setting: true };
    expect((await recordOf(chat, question, { 'x-gw-debug': 'false' })).bodies.request).toBeDefined();
  });
});

describe('masking', () => {
  test('credentials, named headers and inline configs never reach the log; equal values stay equal', async () => {
    const customHeaders = { 'X-Corp-Auth': 'canary-corp' };
    plane.providers.set(
      'corp',
      savedProvider('corp', { customHost: a.url, credential: 'canary-saved', customHeaders }),
    );
    a.script(
      bytes(200, JSON.stringify(openai.completion('x')), {
        'content-type': 'application/json',
        'x-operator': 'canary-answer',
      }),
    );
    const record = await recordOf(
      chat,
      { ...question, model: '@corp/gpt-4o-mini' },
      {
        'x-gw-provider': '',
        authorization: 'Bearer canary-authorization',
        'x-mine': 'canary-mine',
        'X-Other': 'canary-mine',
        'x-operator': 'canary-operator',
        cookie: 'canary=1',
        'x-gw-aws-secret-access-key': 'canary-aws',
        'x-gw-oracle-key-passphrase': 'canary-oracle',
        'x-gw-config': '{"retry":{"attempts":1},"api_key":"canary-inline"}',
        'x-gw-sensitive-headers': 'X-Mine, x-other',
        'x-plain': 'plain',
      },
    );
    const kept = JSON.stringify(record);
    expect(kept).not.toContain('canary');
    expect(kept).not.toContain(workspaceKey);
    const headers = record.bodies.request?.headers ?? {};
    expect(headers['x-mine']).toMatch(/^masked:/);
    expect(headers['x-mine']).toBe(headers['x-other'] ?? '');
    expect(headers['x-plain']).toBe('plain');
    expect(record.bodies.transformedRequest?.headers['x-corp-auth']).toMatch(/^masked:/);
  });
});

describe('the answer’s headers', () => {
  test('are the provider’s without those of its connection, and ours', async () => {
    a.script(
      bytes(200, JSON.stringify(openai.completion('x')), {
        'content-type': 'application/json',
        'x-own': '1',
        'set-cookie': 'a=b',
        'x-gw-gateway-exception': 'true',
        'x-gw-trace-id': 'theirs',
      }),
    );
    const { headers } = await plane.call(chat, question, { 'x-gw-provider': '@a', 'x-gw-trace-id': 'mine' });
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-own': '1',
      'x-gw-trace-id': 'mine',
      'x-gw-last-used-option-index': 'config',
      'x-gw-retry-attempt-count': '0',
      'x-gw-cache-status': 'DISABLED',
      'x-gw-provider': 'openai',
    });
    expect(headers.get('x-gw-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    for (const name of ['set-cookie', 'x-gw-gateway-exception']) expect(headers.get(name)).toBeNull();
  });

  test('of a stream say that it is one and must not be kept', async () => {
    const { headers } = await plane.call(chat, { ...question, stream: true }, { 'x-gw-provider': '@a' });
    expect([headers.get('content-type'), headers.get('cache-control')]).toEqual([
      'text/event-stream; charset=utf-8',
      'no-cache',
    ]);
  });

  test('of an error of ours tell the way as well', async () => {
    const { headers } = await plane.call(chat, question, { 'x-gw-provider': '@nobody' });
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/json',
      'x-gw-last-used-option-index': 'config',
      'x-gw-cache-status': 'DISABLED',
    });
  });
});
