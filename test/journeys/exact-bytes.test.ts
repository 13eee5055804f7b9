/** What nothing changes arrives byte for byte, both ways: odd JSON, odd event streams, odd splits. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import * as claude from '../providers/anthropic.ts';
import * as openai from '../providers/openai.ts';
import { bytes, json, type SimulatedProvider, startProvider, stream } from '../providers/simulated.ts';
import { rawCall } from '../raw-client.ts';
import { startWorld, type World } from '../world.ts';

let a: SimulatedProvider;
let c: SimulatedProvider;
let world: World;

beforeAll(async () => {
  a = await startProvider(json(200, {}));
  c = await startProvider(json(200, {}));
  world = await startWorld({ a: { provider: 'openai', simulated: a }, c: { provider: 'anthropic', simulated: c } });
});
afterAll(async () => {
  await world.stop();
  await a.stop();
  await c.stop();
});
beforeEach(() => {
  for (const provider of [a, c]) {
    provider.calls.length = 0;
    provider.script(json(200, { ok: true }));
  }
});
afterEach(() => {
  expect(world.gateway.faults).toEqual([]);
});

type Fields = Record<string, string>;

const post = (path: string, body: string | Buffer, headers: Fields = {}) =>
  rawCall(world.gateway.url + path, {
    headers: {
      'x-gw-api-key': world.gateway.workspaceKey,
      'x-gw-provider': path.startsWith('/v1/messages') ? '@c' : '@a',
      'content-type': 'application/json',
      ...headers,
    },
    body: Buffer.from(body),
  });

/** JSON as no serialiser would write it. */
const odd = (
  model: string,
) => `\n\t{ "messages" :[ { "role":"user" , "content":"caf\\u00e9 \\ud83d\\ude00 \\/ \\ud800" } ],
  "model":\t"${model}"  ,"seed":12345678901234567890, "temperature" : 1.0e-1,"top_p":0.10000000000000000555,
  "big":1E400,"unknown":{"a":[ ],"b":{ }},"twice":1,"twice":{"model":"@a/not-this"}, "":null,"\\u006dodel2":"x"}\r\n `;

const jsonRoutes = [
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/rerank',
  '/v1/moderations',
  '/v1/images/generations',
  '/v1/audio/speech',
  '/v1/responses',
  '/v1/messages',
  '/v1/messages/count_tokens',
  '/v1/batches',
  '/v1/fine_tuning/jobs',
  '/v1/anything/else',
  '/v1/proxy/chat/completions',
];

describe('a JSON body', () => {
  for (const path of jsonRoutes) {
    const provider = () => (path.startsWith('/v1/messages') ? c : a);
    const slug = path.startsWith('/v1/messages') ? 'c' : 'a';

    test(`${path}: arrives as it was written`, async () => {
      expect((await post(path, odd('gpt-4o-mini'))).status).toBe(200);
      expect(provider().calls[0]?.body.toString()).toBe(odd('gpt-4o-mini'));
    });

    test(`${path}: loses the prefix of its model and nothing else`, async () => {
      expect((await post(path, odd(`@${slug}/gpt-4o-mini`))).status).toBe(200);
      expect(provider().calls[0]?.body.toString()).toBe(odd('gpt-4o-mini'));
    });
  }

  test('that a config changes keeps every digit of its numbers', async () => {
    const config = await world.saveConfig({
      provider: '@a',
      default_params: { max_tokens: 5 },
      override_params: { model: 'other' },
      drop_params: ['tools[*].strict'],
    });
    const text =
      '{"model":"m","seed":12345678901234567890,"far":1e400,"tools":[{"strict":true,"max":9223372036854775807}]}';
    for (const path of ['/v1/chat/completions', '/v1/proxy/chat/completions']) {
      expect((await post(path, text, { 'x-gw-provider': '', 'x-gw-config': config })).status).toBe(200);
      expect(a.calls.at(-1)?.body.toString()).toBe(
        '{"model":"other","seed":12345678901234567890,"far":1e400,"tools":[{"max":9223372036854775807}],"max_tokens":5}',
      );
    }
  });

  test('that is no object, or no JSON, is refused with what is wrong', async () => {
    for (const body of ['[1]', '"text"', '{"a":', 'null', '{"a":1}}', '\xff']) {
      const { status, body: answer } = await post('/v1/chat/completions', body);
      expect([status, JSON.parse(answer.toString()).error.code]).toEqual([400, 'invalid_body']);
    }
    expect(a.calls).toEqual([]);
  });
});

describe('a JSON answer', () => {
  const answer = odd('gpt-4o-mini');

  for (const status of [200, 400, 500]) {
    test(`with status ${status} comes back as it was written`, async () => {
      a.script(bytes(status, answer, { 'content-type': 'application/json', 'x-request-id': 'req_1' }));
      const reply = await post('/v1/chat/completions', '{"model":"gpt-4o-mini"}');
      expect([reply.status, reply.headers['x-request-id'], reply.body.toString()]).toEqual([status, 'req_1', answer]);
    });
  }

  test('that came packed is handed on unpacked, without the headers that are no longer true', async () => {
    const packed = gzipSync(answer);
    a.script(
      bytes(200, packed, {
        'content-type': 'application/json',
        'content-encoding': 'gzip',
        'content-length': String(packed.length),
      }),
    );
    const reply = await post('/v1/chat/completions', '{"model":"gpt-4o-mini"}', { 'accept-encoding': 'gzip' });
    expect(reply.body.toString()).toBe(answer);
    expect(reply.headers['content-encoding']).toBeUndefined();
    expect(reply.headers['content-length']).toBe(String(Buffer.byteLength(answer)));
  });

  test('that is a redirect leads nowhere, because clients would take our key along', async () => {
    a.script(bytes(307, '', { location: 'https://elsewhere.example/', 'x-request-id': 'req_1' }));
    const { status, headers } = await post('/v1/chat/completions', '{"model":"gpt-4o-mini"}');
    expect([status, headers.location, headers['x-request-id']]).toEqual([307, undefined, 'req_1']);
  });

  test('that is a page of a broken proxy is handed on as it is', async () => {
    a.script(bytes(502, '<html>Bad gateway</html>', { 'content-type': 'text/html' }));
    const reply = await post('/v1/chat/completions', '{"model":"gpt-4o-mini"}');
    expect([reply.status, reply.headers['content-type'], reply.body.toString()]).toEqual([
      502,
      'text/html',
      '<html>Bad gateway</html>',
    ]);
  });
});

describe('an event stream', () => {
  const crlf = (text: string) => text.replaceAll('\n', '\r\n');
  const chat = openai.wholeStream(['Gr', 'üße 😀', ' {"}']).join('');
  const messages = claude.wholeStream(['Gr', 'üße 😀']).join('');
  const huge = openai.part('x'.repeat(3_000_000));
  const streams: Record<string, [path: string, text: string]> = {
    plain: ['/v1/chat/completions', chat],
    'with CRLF': ['/v1/chat/completions', crlf(chat)],
    'with CR alone': ['/v1/chat/completions', chat.replaceAll('\n', '\r')],
    'with comments': ['/v1/chat/completions', `: PROCESSING\n\n:\n\n${openai.opening}: keep-alive\n\n${chat}`],
    'with ids and retry': ['/v1/chat/completions', chat.replaceAll('data: {', 'id: 7\nretry: 500\ndata: {')],
    'without a space behind the colon': ['/v1/chat/completions', chat.replaceAll('data: ', 'data:')],
    'with unknown fields and events': ['/v1/messages', `${messages.replace('event: ping', 'x-odd: 1\nevent: ping')}`],
    'with an event of another name': [
      '/v1/messages',
      messages.replace('event: message_delta', 'event: fancy\ndata: {"type":"fancy"}\n\nevent: message_delta'),
    ],
    'of messages with CRLF': ['/v1/messages', crlf(messages)],
    'with something behind its end': ['/v1/chat/completions', `${chat}data: {"hook_results":{}}\n\n: bye\n\n`],
    'with more blank lines than needed': ['/v1/chat/completions', chat.replaceAll('\n\n', '\n\n\n')],
    'with data on several lines': ['/v1/chat/completions', chat.replaceAll(',"object"', ',\ndata: "object"')],
    'with a huge event': ['/v1/chat/completions', openai.opening + huge + openai.finish + openai.done],
  };

  const answered = async (path: string, pieces: readonly string[] | readonly Buffer[]): Promise<string> => {
    const provider = path === '/v1/messages' ? c : a;
    provider.script(stream(pieces as readonly string[]));
    // Who does not ask for the usage of a chat is not shown it.
    const reply = await post(path, '{"model":"m","stream":true,"stream_options":{"include_usage":true}}');
    expect(reply.status).toBe(200);
    return reply.body.toString();
  };

  for (const [name, [path, text]] of Object.entries(streams)) {
    test(`${name} arrives as it was sent`, async () => {
      const whole = await answered(path, [text]);
      expect(whole === text || whole).toBe(true);
    });
  }

  test('arrives as it was sent when every byte comes alone', async () => {
    for (const [path, text] of [streams.plain, streams['with CRLF'], streams['of messages with CRLF']].flatMap((s) =>
      s ? [s] : [],
    )) {
      const each = [...Buffer.from(text)].map((byte) => Buffer.from([byte]));
      expect(await answered(path, each)).toBe(text);
    }
  });

  test('arrives as it was sent wherever it is cut', async () => {
    const named = Object.entries(streams).filter(([name]) => name !== 'with a huge event');
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...named),
        fc.array(fc.nat(4_000), { maxLength: 6 }),
        async ([, [path, text]], cuts) => {
          const whole = Buffer.from(text);
          const places = [0, ...cuts.map((cut) => cut % whole.length).sort((x, y) => x - y), whole.length];
          const pieces = places.slice(1).map((end, index) => whole.subarray(places[index], end));
          expect(
            await answered(
              path,
              pieces.filter((piece) => piece.length > 0),
            ),
          ).toBe(text);
        },
      ),
      { numRuns: 60 },
    );
  });
});
