import { describe, expect, test } from 'bun:test';
import { listen } from '../../http/server.ts';
import { incomingOf } from '../../http/web.ts';
import { silentLog } from '../../log.ts';
import { GatewayError } from '../errors.ts';
import { type ClientBody, JsonBody, parametersOf, readBody } from './body.ts';
import type { GatewayRoute } from './routes.ts';

const route = (body: GatewayRoute['body']): GatewayRoute => ({
  kind: body === 'raw' ? 'proxy' : 'chatComplete',
  body,
  errorForm: 'openai',
  upstreamPath: '/x',
});

const limit = 64;

/** Reads a body over real HTTP, as the listener hands it over. */
async function read(
  init: RequestInit,
  kind: GatewayRoute['body'] = 'json',
): Promise<ClientBody | { code: string; status: number }> {
  let outcome: ClientBody | { code: string; status: number } = { form: 'none' };
  const listener = listen(
    { host: '127.0.0.1', port: 0 },
    {
      handlers: [
        async (request) => {
          try {
            outcome = await readBody(request, route(kind), limit, () => undefined);
          } catch (fault) {
            if (!(fault instanceof GatewayError)) throw fault;
            outcome = { code: fault.code, status: fault.status };
          }
          return { status: 204, headers: {}, body: null };
        },
      ],
      idle: async () => undefined,
      log: silentLog,
    },
  );
  await fetch(listener.url, { method: 'POST', ...init });
  await listener.stop(0);
  return outcome;
}

const json = { 'content-type': 'application/json' };
const chunked = (...parts: string[]) =>
  new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  });

describe('JSON routes', () => {
  test('the bytes are kept as they came, beside what they mean', async () => {
    const text = '{ "model" : "m",\n"b":[1,  2] }';
    const body = await read({ body: text, headers: json });
    expect(body).toMatchObject({ form: 'json', json: { model: 'm', b: [1, 2] } });
    expect('bytes' in body && Buffer.from(body.bytes).toString()).toBe(text);
  });

  test('what they mean can be set aside, and is still there for whoever asks later', () => {
    const body = new JsonBody(Buffer.from('{"model":"m"}'), { model: 'm' });
    const before = body.json;
    expect(body.json).toBe(before);
    body.setAside();
    expect(body.json).not.toBe(before);
    expect(body.json).toEqual(before);
  });

  test.each([
    ['not JSON', '{"a":'],
    ['a list', '[]'],
    ['a text', '"a"'],
    ['null', 'null'],
  ])('%s is refused with 400', async (_, body) => {
    expect(await read({ body, headers: json })).toEqual({ code: 'invalid_body', status: 400 });
  });

  test('bytes that are no UTF-8 are refused with 400', async () => {
    const body = Uint8Array.of(123, 34, 97, 34, 58, 34, 0xc3, 34, 125);
    expect(await read({ body, headers: json })).toEqual({ code: 'invalid_body', status: 400 });
  });

  test.each([
    ['a length of nothing', ''],
    ['chunks of nothing', chunked()],
  ])('%s stays nothing', async (_, body) => {
    expect(await read({ body, headers: json })).toEqual({ form: 'none' });
  });

  test('a body at the limit passes, and one past it is refused with 413, with and without a length', async () => {
    const at = `{"a":"${'x'.repeat(limit - 8)}"}`;
    const past = `{"a":"${'x'.repeat(limit - 7)}"}`;
    expect(await read({ body: at, headers: json })).toMatchObject({ form: 'json' });
    expect(await read({ body: chunked(at.slice(0, 9), at.slice(9)), headers: json })).toMatchObject({ form: 'json' });
    const refused = { code: 'body_too_large', status: 413 };
    expect(await read({ body: past, headers: json })).toEqual(refused);
    expect(await read({ body: chunked(past.slice(0, 9), past.slice(9)), headers: json })).toEqual(refused);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'])(
    '%s is refused with 400',
    async (type) => {
      const refused = { code: 'invalid_content_type', status: 400 };
      expect(await read({ body: '{}', headers: { 'content-type': type } })).toEqual(refused);
    },
  );

  test('parameters of the content type and its case do not count', async () => {
    const headers = { 'content-type': 'Application/JSON; charset=utf-8' };
    expect(await read({ body: '{}', headers })).toMatchObject({ form: 'json' });
  });

  test('audio is carried through', async () => {
    expect(await read({ body: 'x', headers: { 'content-type': 'audio/wav' } })).toMatchObject({ form: 'stream' });
  });
});

describe('passthrough', () => {
  test('JSON is read, so that it can be repeated and routed', async () => {
    expect(await read({ body: '{"model":"m"}', headers: json }, 'raw')).toMatchObject({ form: 'json' });
  });

  test.each(['[1]', '{"a":', 'text'])('%s, sent as JSON, goes on as it is', async (body) => {
    const kept = await read({ body, headers: json }, 'raw');
    expect(kept).toMatchObject({ form: 'bytes', contentType: 'application/json' });
    expect('bytes' in kept && Buffer.from(kept.bytes).toString()).toBe(body);
  });

  test('anything else is not read at all', async () => {
    const headers = { 'content-type': 'application/octet-stream' };
    const body = await read({ body: 'x'.repeat(2 * limit), headers }, 'raw');
    expect(body).toMatchObject({ form: 'stream', contentType: 'application/octet-stream' });
  });

  test('nothing stays nothing', async () => {
    expect(await read({}, 'raw')).toEqual({ form: 'none' });
    expect(await read({ body: chunked(), headers: json }, 'raw')).toEqual({ form: 'none' });
  });
});

test('a form shows its text fields as parameters, and not its files', async () => {
  const form = new FormData();
  form.set('model', 'm');
  form.set('file', new Blob(['x']), 'f');
  const request = new Request('http://x/', { method: 'POST', body: form });
  const body = await readBody(incomingOf(request), route('form'), 10_000, () => undefined);
  expect(parametersOf(body)).toEqual({ model: 'm' });
});

test('a client that leaves while it sends is not a fault of ours', async () => {
  const broken = new ReadableStream({
    pull(controller) {
      controller.error(new Error('gone'));
    },
  });
  const request = new Request('http://x/', { method: 'POST', body: broken, headers: json });
  await expect(readBody(incomingOf(request), route('json'), limit, () => undefined)).rejects.toMatchObject({
    code: 'client_closed',
    status: 499,
  });
});
