/** A client that leaves has its upstream call closed at once, whichever route it was on and however far it had come. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { ServerResponse } from 'node:http';
import { abandoned, type OpenEndedProvider, startOpenEnded } from '../providers/open-ended.ts';
import * as openai from '../providers/openai.ts';
import { openCall } from '../raw-client.ts';
import { startWorld, type World } from '../world.ts';

let provider: OpenEndedProvider;
let world: World;

beforeAll(async () => {
  provider = await startOpenEnded();
  world = await startWorld({});
  await world.saveProvider('a', 'openai', provider);
});
afterAll(async () => {
  await world.stop();
  await provider.stop();
});
afterEach(() => {
  expect(world.gateway.faults).toEqual([]);
});

/** How long the provider may wait for news of a client that left. */
const promptly = 100;

type Fields = Record<string, string>;

/** Begins a call and answers when the provider has it, with what is needed to leave and to see the end. */
const begin = async (
  path: string,
  body: string | null,
  headers: Fields,
  answering: (response: ServerResponse) => void,
) => {
  const reached = Promise.withResolvers<ServerResponse>();
  provider.answer((request, response) => {
    request.resume();
    answering(response);
    reached.resolve(response);
  });
  const traceId = Bun.randomUUIDv7();
  const call = openCall(world.gateway.url + path, {
    'x-gw-api-key': world.gateway.workspaceKey,
    'x-gw-provider': '@a',
    'x-gw-trace-id': traceId,
    'content-type': 'application/json',
    ...headers,
  });
  const answered = new Promise<void>((resolve) => {
    call.on('response', (response) => response.once('data', () => resolve()));
  });
  if (body === null) call.write(Buffer.alloc(100_000));
  else call.end(body);
  const response = await reached.promise;
  return { call, traceId, answered, closed: abandoned(response) };
};

/** The time until the provider sees its caller gone. */
const timeToClose = async ({ call, closed }: Awaited<ReturnType<typeof begin>>): Promise<number> => {
  const left = performance.now();
  call.destroy();
  await closed;
  return performance.now() - left;
};

const silence = () => undefined;
const firstBytes = (type: string, bytes: string) => (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': type });
  response.write(bytes);
};
const question = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Tell me.' }] };

const unary: [name: string, path: string, headers?: Fields][] = [
  ['chat', '/v1/chat/completions'],
  ['embeddings', '/v1/embeddings'],
  ['responses', '/v1/responses'],
  ['speech', '/v1/audio/speech'],
  ['passthrough', '/v1/proxy/chat/completions'],
];

describe('before the answer', () => {
  for (const [name, path] of unary) {
    test(name, async () => {
      const begun = await begin(path, JSON.stringify(question), {}, silence);
      expect(await timeToClose(begun)).toBeLessThan(promptly);
      const [record] = await world.records(begun.traceId, 1);
      expect([record?.response_status_code, record?.cost, record?.is_success]).toEqual([499, 0, false]);
    });
  }

  test('a form', async () => {
    const form = '--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--x--\r\n';
    const begun = await begin(
      '/v1/audio/transcriptions',
      form,
      { 'content-type': 'multipart/form-data; boundary=x' },
      silence,
    );
    expect(await timeToClose(begun)).toBeLessThan(promptly);
  });

  test('with retries and another target left, nobody else is asked', async () => {
    const config = await world.saveConfig({
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@a', retry: { attempts: 3 } }, { provider: '@a' }],
    });
    const begun = await begin('/v1/chat/completions', JSON.stringify(question), { 'x-gw-config': config }, silence);
    let asked = 0;
    provider.answer(() => void asked++);
    await timeToClose(begun);
    await world.records(begun.traceId, 1);
    expect(asked).toBe(0);
  });
});

describe('in the middle of the answer', () => {
  const streams: [name: string, path: string, type: string, bytes: string][] = [
    ['a chat stream', '/v1/chat/completions', 'text/event-stream', openai.opening + openai.part('Hello')],
    ['speech', '/v1/audio/speech', 'audio/mpeg', 'some sound'],
    ['passthrough', '/v1/anything', 'application/octet-stream', 'some bytes'],
    ['a stream that passes through', '/v1/proxy/chat/completions', 'text/event-stream', openai.part('Hello')],
  ];
  for (const [name, path, type, bytes] of streams) {
    test(name, async () => {
      const begun = await begin(path, JSON.stringify({ ...question, stream: true }), {}, firstBytes(type, bytes));
      await begun.answered;
      expect(await timeToClose(begun)).toBeLessThan(promptly);
      const [record] = await world.records(begun.traceId, 1);
      expect(record?.response_status_code).toBe(499);
    });
  }
});

describe('in the middle of an upload', () => {
  for (const path of ['/v1/files', '/v1/uploads/1/parts']) {
    test(path, async () => {
      const begun = await begin(path, null, { 'content-type': 'application/octet-stream' }, silence);
      expect(await timeToClose(begun)).toBeLessThan(promptly);
      const [record] = await world.records(begun.traceId, 1);
      expect([record?.response_status_code, record?.is_success]).toEqual([499, false]);
    });
  }

  test('before a JSON body was complete, the provider never hears of it', async () => {
    let asked = 0;
    provider.answer(() => void asked++);
    const call = openCall(`${world.gateway.url}/v1/chat/completions`, {
      'x-gw-api-key': world.gateway.workspaceKey,
      'x-gw-provider': '@a',
      'content-type': 'application/json',
      'content-length': '1000',
      'x-gw-trace-id': 'left-while-sending',
    });
    await new Promise<void>((resolve) => call.write('{"model":', () => resolve()));
    call.destroy();
    const [record] = await world.records('left-while-sending', 1);
    expect([record?.response_status_code, asked]).toEqual([499, 0]);
  });
});
