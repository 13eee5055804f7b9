/** What a client sees, and how often each provider is asked, when providers fail in every way they are known to. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { type ChatStream, readChatStream, readPast } from './chat-stream.ts';
import { sharedByTests } from './journey.ts';
import * as openai from './providers/openai.ts';
import { bytes, gated, reset, type SimulatedProvider, silence, startProvider, stream } from './providers/simulated.ts';
import { startWorld, type World } from './world.ts';

let a: SimulatedProvider;
let b: SimulatedProvider;
let world: World;

beforeAll(async () => {
  a = await startProvider(openai.says('from a'));
  b = await startProvider(openai.says('from b'));
  world = await startWorld({ a: { provider: 'openai', simulated: a }, b: { provider: 'openai', simulated: b } });
});
sharedByTests(
  () => world.gateway,
  () => [a, b],
);

const question = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Tell me.' }] };
const asked = () => ({ a: a.calls.length, b: b.calls.length });

/** Each test has a config of its own, so that breakers of one do not touch another. */
const fallback = (more: object = {}, targets: object[] = [{ provider: '@a' }, { provider: '@b' }]) =>
  world.saveConfig({ strategy: { mode: 'fallback' }, targets, ...more });

const unary = async (config: string) => {
  const response = await world.call('/v1/chat/completions', question, { 'x-gw-config': config });
  const body = (await response.json()) as {
    choices?: { message: { content: string } }[];
    error?: { code: string; type: string };
  };
  return { response, text: body.choices?.[0]?.message.content, error: body.error };
};

/** Asks for a stream; with `until`, tells as soon as the client has that text. */
const streamed = async (config: string, until?: { text: string; seen(): void }): Promise<ChatStream> => {
  const response = await world.call('/v1/chat/completions', { ...question, stream: true }, { 'x-gw-config': config });
  return readChatStream(response, until);
};

describe('before anything was answered', () => {
  test('429 with Retry-After: the wait is kept and the second try answers', async () => {
    a.script(openai.rateLimited({ 'retry-after-ms': '20' }), openai.says('second try'));
    const { response, text } = await unary(await fallback({ retry: { attempts: 2, use_retry_after_header: true } }));
    expect({ text, asked: asked(), count: response.headers.get('x-gw-retry-attempt-count') }).toEqual({
      text: 'second try',
      asked: { a: 2, b: 0 },
      count: '1',
    });
  });

  test('429 that asks for more than a minute: no retry, the next target answers', async () => {
    a.script(openai.rateLimited({ 'retry-after': '70' }));
    b.script(openai.says('from b'));
    const { text } = await unary(await fallback({ retry: { attempts: 3, use_retry_after_header: true } }));
    expect({ text, asked: asked() }).toEqual({ text: 'from b', asked: { a: 1, b: 1 } });
  });

  test('429 without Retry-After: retried after the ordinary wait', async () => {
    a.script(openai.rateLimited(), openai.says('second try'));
    const { text } = await unary(await fallback({ retry: { attempts: 1, use_retry_after_header: true } }));
    expect({ text, asked: asked() }).toEqual({ text: 'second try', asked: { a: 2, b: 0 } });
  });

  test('500 once: the retry answers', async () => {
    a.script(openai.serverError, openai.says('recovered'));
    const { text } = await unary(await fallback({ retry: { attempts: 1 } }));
    expect({ text, asked: asked() }).toEqual({ text: 'recovered', asked: { a: 2, b: 0 } });
  });

  test('503 always: retries are used up, then the next target answers', async () => {
    a.script(openai.unavailable);
    b.script(openai.says('from b'));
    const { response, text } = await unary(await fallback({ retry: { attempts: 1 } }));
    expect({ text, asked: asked() }).toEqual({ text: 'from b', asked: { a: 2, b: 1 } });
    expect(response.headers.get('x-gw-last-used-option-index')).toBe('config.targets[1]');
  });

  test('both targets fail: the last answer is returned unchanged', async () => {
    a.script(openai.serverError);
    b.script(openai.unavailable);
    const { response, error } = await unary(await fallback());
    expect(response.status).toBe(503);
    expect(error).toMatchObject({ type: 'server_error' });
  });

  test('a reset before the headers: the next target answers', async () => {
    a.script(reset);
    b.script(openai.says('from b'));
    const { text } = await unary(await fallback());
    expect({ text, asked: asked() }).toEqual({ text: 'from b', asked: { a: 1, b: 1 } });
  });

  test('a reset is retried on the same target when retries are set', async () => {
    a.script(reset, openai.says('second try'));
    const { text } = await unary(await fallback({ retry: { attempts: 1 } }));
    expect({ text, asked: asked() }).toEqual({ text: 'second try', asked: { a: 2, b: 0 } });
  });

  test('a reset with nobody behind: 502 in our words', async () => {
    a.script(reset);
    const { response, error } = await unary(await world.saveConfig({ provider: '@a' }));
    expect({ status: response.status, code: error?.code }).toEqual({ status: 502, code: 'upstream_unreachable' });
  });

  test('silence: the target is asked once, and the next one answers', async () => {
    a.script(silence);
    b.script(openai.says('from b'));
    const { text } = await unary(await fallback({ request_timeout: 150, retry: { attempts: 3 } }));
    expect({ text, asked: asked() }).toEqual({ text: 'from b', asked: { a: 1, b: 1 } });
  });

  test('silence with nobody behind: 408 that names the time', async () => {
    a.script(silence);
    const { response, error } = await unary(await world.saveConfig({ provider: '@a', request_timeout: 120 }));
    expect({ status: response.status, type: error?.type }).toEqual({ status: 408, type: 'timeout_error' });
  });

  test('a slow first token: the target is asked once, and the next one answers', async () => {
    let open: () => void = () => undefined;
    a.script(gated(new Promise((resolve) => (open = resolve)), openai.wholeStream(['late'])));
    b.script(openai.says('from', ' b'));
    const result = await streamed(await fallback({ first_token_timeout: 150, retry: { attempts: 3 } }));
    open();
    expect({ text: result.text, done: result.done, asked: asked() }).toEqual({
      text: 'from b',
      done: true,
      asked: { a: 1, b: 1 },
    });
  });

  test.each([
    ['a context overflow', openai.contextOverflow],
    ['a content refusal', openai.contentRefusal],
  ])('%s is never retried on the same target, even when 400 is listed', async (_, refusal) => {
    a.script(refusal);
    b.script(openai.says('from b'));
    const { text } = await unary(await fallback({ retry: { attempts: 3, on_status_codes: [400, 500] } }));
    expect({ text, asked: asked() }).toEqual({ text: 'from b', asked: { a: 1, b: 1 } });
  });

  test('an error as the first event of a stream counts as a failed answer', async () => {
    a.script(stream(['data: {"error":{"message":"overloaded","type":"overloaded_error","code":null}}\n\n']));
    b.script(openai.says('from b'));
    const result = await streamed(await fallback());
    expect({ text: result.text, done: result.done, asked: asked() }).toEqual({
      text: 'from b',
      done: true,
      asked: { a: 1, b: 1 },
    });
  });

  test('an overload as the first event of a stream answers 529, and is retried', async () => {
    const overloaded = stream(['data: {"error":{"message":"Overloaded","type":"overloaded_error","code":null}}\n\n']);
    a.script(overloaded);
    const refused = await world.call(
      '/v1/chat/completions',
      { ...question, stream: true },
      { 'x-gw-config': await world.saveConfig({ provider: '@a' }) },
    );
    expect({ status: refused.status, body: await refused.json() }).toMatchObject({
      status: 529,
      body: { error: { type: 'overloaded_error' } },
    });
    a.script(overloaded, openai.says('second try'));
    const result = await streamed(await fallback({ retry: { attempts: 1 } }));
    expect({ text: result.text, done: result.done }).toEqual({ text: 'second try', done: true });
  });

  test('an error page of a proxy in front of the provider reaches the client with its status', async () => {
    a.script(bytes(502, '<html>Bad gateway</html>', { 'content-type': 'text/html' }));
    const response = await world.call('/v1/chat/completions', question, {
      'x-gw-config': await world.saveConfig({ provider: '@a' }),
    });
    expect(response.status).toBe(502);
    expect(await response.text()).toContain('Bad gateway');
  });
});

describe('after bytes were delivered', () => {
  const words = ['One', ' two', ' three', ' four'];
  const beginning = [openai.opening, openai.part('One'), openai.part(' two')];

  const rescued = async (config: string) => {
    const result = await streamed(config);
    expect({ text: result.text, done: result.done, error: result.error }).toEqual({
      text: 'One two three four',
      done: true,
      error: undefined,
    });
    return result;
  };

  test('a cut stream goes on with the next target, without a word lost or repeated', async () => {
    a.script(stream(beginning, 'cut'));
    b.script(openai.says(...words));
    await rescued(await fallback());
    expect(asked()).toEqual({ a: 1, b: 1 });
  });

  test('a stalled stream goes on with the next target, and the stalled one is closed', async () => {
    a.script(stream(beginning, 'stall'));
    b.script(openai.says(...words));
    await rescued(await fallback({ stream_idle_timeout: 150 }));
    await a.calls[0]?.abandoned;
  });

  test('a chunk that cannot be read never reaches the client; the next target goes on', async () => {
    a.script(stream([...beginning, 'data: {"id":"chatcmpl-Bq1","choi\n\n', openai.done]));
    b.script(openai.says(...words));
    const { raw } = await rescued(await fallback());
    expect(raw).not.toContain('"choi\n');
  });

  test('a stream that ends cleanly but too early goes on with the next target', async () => {
    a.script(stream(beginning));
    b.script(openai.says(...words));
    await rescued(await fallback());
  });

  test('a finished stream without [DONE] is completed by us; nobody else is asked', async () => {
    a.script(stream([openai.opening, ...words.map((word) => openai.part(word)), openai.finish]));
    await rescued(await fallback());
    expect(asked()).toEqual({ a: 1, b: 0 });
  });

  test('an error event inside the stream: the next target goes on', async () => {
    a.script(stream([...beginning, 'data: {"error":{"message":"boom","type":"server_error"}}\n\n']));
    b.script(openai.says(...words));
    await rescued(await fallback());
  });

  test('the next target splits its words elsewhere: the join is still exact', async () => {
    a.script(stream([openai.opening, openai.part('One tw')], 'cut'));
    b.script(openai.says('On', 'e two thr', 'ee four'));
    await rescued(await fallback());
  });

  test('the second target breaks too: the third goes on', async () => {
    const c = await startProvider(openai.says(...words));
    await world.saveProvider('c', 'openai', c);
    a.script(stream([openai.opening, openai.part('One')], 'cut'));
    b.script(stream([openai.opening, openai.part('One'), openai.part(' two')], 'cut'));
    await rescued(await fallback({}, [{ provider: '@a' }, { provider: '@b' }, { provider: '@c' }]));
    await c.stop();
  });

  test('the ids of the joined chunks are those of the first stream', async () => {
    a.script(stream([openai.opening, openai.part('One', 'chatcmpl-first')], 'cut'));
    b.script(openai.says(...words));
    const { raw } = await rescued(await fallback());
    const joined = raw.split('\n\n').filter((event) => event.includes('"content":" four"'));
    expect(joined[0]).toContain('"id":"chatcmpl-Bq1"');
  });

  test('an answer that diverges ends in a typed error, not in a patchwork', async () => {
    const delivered = Promise.withResolvers<void>();
    a.script(stream(beginning, 'cut', delivered.promise));
    b.script(openai.says('Something', ' else'));
    const result = await streamed(await fallback(), { text: ' two', seen: delivered.resolve });
    expect({ text: result.text, done: result.done, code: result.error?.code }).toEqual({
      text: 'One two',
      done: false,
      code: 'stream_diverged',
    });
  });

  test('with nobody behind, a cut stream ends in a typed error and without [DONE]', async () => {
    const delivered = Promise.withResolvers<void>();
    a.script(stream(beginning, 'cut', delivered.promise));
    const until = { text: ' two', seen: delivered.resolve };
    const result = await streamed(await world.saveConfig({ provider: '@a' }), until);
    expect({ text: result.text, done: result.done, code: result.error?.code }).toEqual({
      text: 'One two',
      done: false,
      code: 'stream_incomplete',
    });
  });

  test('recover_streams: false turns recovery off', async () => {
    const delivered = Promise.withResolvers<void>();
    a.script(stream(beginning, 'cut', delivered.promise));
    const config = await world.saveConfig({
      strategy: { mode: 'fallback', recover_streams: false },
      targets: [{ provider: '@a' }, { provider: '@b' }],
    });
    const result = await streamed(config, { text: ' two', seen: delivered.resolve });
    expect({ done: result.done, code: result.error?.code, asked: asked() }).toEqual({
      done: false,
      code: 'stream_incomplete',
      asked: { a: 1, b: 0 },
    });
  });

  test('a stream that has begun a tool call is not taken up by another model', async () => {
    const toolCall = openai
      .part('x')
      .replace(
        '"content":"x"',
        '"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}]',
      );
    const delivered = Promise.withResolvers<void>();
    a.script(stream([openai.opening, toolCall], 'cut', delivered.promise));
    const result = await streamed(await fallback(), { text: 'call_1', seen: delivered.resolve });
    expect({ done: result.done, code: result.error?.code, asked: asked() }).toEqual({
      done: false,
      code: 'stream_incomplete',
      asked: { a: 1, b: 0 },
    });
  });
});

describe('over time', () => {
  test('a provider that flaps is left out after five failures and asked again after the cooldown', async () => {
    const config = await fallback();
    a.script(openai.unavailable);
    b.script(openai.says('from b'));
    for (let call = 0; call < 8; call++) expect((await unary(config)).text).toBe('from b');
    expect(asked()).toEqual({ a: 5, b: 8 });
    world.gateway.clock.advance({ seconds: 31 });
    a.script(openai.says('back again'));
    expect((await unary(config)).text).toBe('back again');
  });

  test('a provider whose streams keep breaking is left out too', async () => {
    const config = await fallback();
    a.script(stream([openai.opening, openai.part('One')]));
    b.script(openai.says('One', ' two'));
    for (let call = 0; call < 7; call++) expect((await streamed(config)).text).toBe('One two');
    expect(asked()).toEqual({ a: 5, b: 7 });
  });

  test('when every target is open the breaker is bypassed', async () => {
    const config = await fallback();
    a.script(openai.unavailable);
    b.script(openai.unavailable);
    for (let call = 0; call < 7; call++) expect((await unary(config)).response.status).toBe(503);
    expect(asked()).toEqual({ a: 7, b: 7 });
  });
});

describe('the accounts', () => {
  test('after a fail-over, who answered is billed and who failed is not', async () => {
    a.script(openai.serverError);
    b.script(openai.says('from b'));
    const { response } = await unary(await fallback());
    const records = await world.records(response.headers.get('x-gw-trace-id') ?? '', 2);
    expect(
      records.map((record) => [record.virtual_key, record.response_status_code, record.total_units, record.cost > 0]),
    ).toEqual([
      ['a', 500, 0, false],
      ['b', 200, 30, true],
    ]);
  });

  test('after a recovered stream, the broken attempt costs nothing and the one that finished is billed', async () => {
    a.script(stream([openai.opening, openai.part('One')], 'cut'));
    b.script(openai.says('One', ' two'));
    const { headers } = await streamed(await fallback());
    const records = await world.records(headers.get('x-gw-trace-id') ?? '', 2);
    expect(records.map((record) => [record.virtual_key, record.is_success, record.total_units])).toEqual([
      ['a', false, 0],
      ['b', true, 30],
    ]);
  });

  test('a client that leaves has its upstream call closed, and is billed for what was produced', async () => {
    a.script(stream([openai.opening, openai.part('word '.repeat(40))], 'stall'));
    const leaving = new AbortController();
    const config = await world.saveConfig({ provider: '@a' });
    const response = await world.call(
      '/v1/chat/completions',
      { ...question, stream: true },
      { 'x-gw-config': config },
      { signal: leaving.signal },
    );
    await readPast(response, 'word', () => leaving.abort()).catch(() => undefined);
    await a.calls[0]?.abandoned;
    const [record] = await world.records(response.headers.get('x-gw-trace-id') ?? '', 1);
    expect({
      status: record?.response_status_code,
      estimated: record?.usage_estimated,
      billed: record?.res_units,
    }).toEqual({
      status: 499,
      estimated: true,
      billed: 40,
    });
  });
});
