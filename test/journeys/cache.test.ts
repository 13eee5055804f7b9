/** Cached answers through the whole program: statuses, keys, streams in each dialect, coalescing, purging. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { ResponseStream } from 'openai/lib/responses/ResponseStream';
import { anthropicMessage } from '../cached-answers.ts';
import * as anthropic from '../providers/anthropic.ts';
import * as openai from '../providers/openai.ts';
import { respondsWith } from '../providers/responses.ts';
import { json, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let a: SimulatedProvider;
let claude: SimulatedProvider;
let world: World;
let cached: string;
beforeAll(async () => {
  a = await startProvider();
  claude = await startProvider();
  world = await startWorld({
    a: { provider: 'openai', simulated: a },
    claude: { provider: 'anthropic', simulated: claude },
  });
  cached = await world.saveConfig({ provider: '@a', cache: { mode: 'simple' } });
});
beforeEach(() => {
  a.calls.length = 0;
  a.script(openai.says('Hel', 'lo'));
  claude.calls.length = 0;
  claude.script(anthropic.says('Bon', 'jour'));
});
afterAll(async () => {
  await world.stop();
  await a.stop();
  await claude.stop();
});

let asked = 0;
const question = (more: object = {}) => ({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: `Question ${++asked}` }],
  ...more,
});

interface Got {
  status: string | null;
  text: string;
  key: string | null;
}

async function ask(body: object, headers: Record<string, string> = {}, path = '/v1/chat/completions'): Promise<Got> {
  const answer = await world.call(path, body, { 'x-gw-config': cached, ...headers });
  return {
    status: answer.headers.get('x-gw-cache-status'),
    text: await answer.text(),
    key: answer.headers.get('x-gw-cache-key'),
  };
}

const statusOf = async (body: object, headers: Record<string, string> = {}) => (await ask(body, headers)).status;

describe('the status of an answer', () => {
  test('is MISS first and HIT then, with the same bytes', async () => {
    const body = question();
    const miss = await ask(body);
    const hit = await ask(body);
    expect([miss.status, hit.status]).toEqual(['MISS', 'HIT']);
    expect(hit.text).toBe(miss.text);
    expect(a.calls).toHaveLength(1);
  });

  test('is MISS for another word, other metadata or another parameter', async () => {
    const body = question();
    await ask(body);
    expect(await statusOf({ ...body, temperature: 0 })).toBe('MISS');
    expect(await statusOf(body, { 'x-gw-metadata': '{"team":"a"}' })).toBe('MISS');
    expect(await statusOf(body)).toBe('HIT');
  });

  test('ignores metadata inside a namespace', async () => {
    const body = question();
    const named = (team: string) => ({ 'x-gw-cache-namespace': 'n', 'x-gw-metadata': JSON.stringify({ team }) });
    expect([await statusOf(body, named('a')), await statusOf(body, named('b'))]).toEqual(['MISS', 'HIT']);
    expect(await statusOf(body)).toBe('MISS');
  });

  test('is REFRESH where the client asks for it, and only for true', async () => {
    const body = question();
    await ask(body);
    a.script(openai.says('fresh'));
    expect(await statusOf(body, { 'x-gw-cache-force-refresh': 'false' })).toBe('HIT');
    expect(await statusOf(body, { 'x-gw-cache-force-refresh': 'true' })).toBe('REFRESH');
    expect((await ask(body)).text).toContain('fresh');
  });

  test('is DISABLED without a cache in the config', async () => {
    const plain = await world.saveConfig({ provider: '@a' });
    expect(await statusOf(question(), { 'x-gw-config': plain })).toBe('DISABLED');
  });

  test('is MISS again for another workspace and after a failure', async () => {
    const body = question();
    await ask(body);
    const { gateway } = world;
    const other = await gateway.post('/v1/admin/workspaces', { name: 'Other tenant' });
    const key = await gateway.post('/v1/api-keys/workspace/service', {
      name: 'other',
      workspace_id: other.body.id,
      scopes: ['completions.write'],
    });
    const workspace_id = other.body.id;
    await world.saveProvider('a-there', 'openai', a, { workspace_id, default_provider_slug: 'a' });
    const config = { provider: '@a', cache: { mode: 'simple' } };
    const saved = await gateway.post('/v1/configs', { name: 'There', config, workspace_id });
    const theirs = await ask(body, { 'x-gw-config': saved.body.slug, 'x-gw-api-key': key.body.key });
    expect(theirs).toMatchObject({ status: 'MISS' });
    const failing = question();
    a.script(json(500, { error: { message: 'no' } }));
    await ask(failing);
    a.script(openai.says('well'));
    expect(await statusOf(failing)).toBe('MISS');
  });

  test('is MISS once an answer is too old', async () => {
    const config = await world.saveConfig({ provider: '@a', cache: { mode: 'simple', max_age: 60 } });
    const body = question();
    await ask(body, { 'x-gw-config': config });
    world.gateway.clock.advance({ seconds: 61 });
    expect(await statusOf(body, { 'x-gw-config': config })).toBe('MISS');
  });
});

describe('streams', () => {
  test('a stream is replayed byte for byte, and as a whole answer', async () => {
    const body = question();
    const miss = await ask({ ...body, stream: true });
    const hit = await ask({ ...body, stream: true });
    expect([miss.status, hit.status, hit.text === miss.text]).toEqual(['MISS', 'HIT', true]);
    const whole = await ask(body);
    expect(whole.status).toBe('HIT');
    expect(JSON.parse(whole.text)).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
    });
  });

  test('a whole answer is replayed as a stream', async () => {
    const body = question();
    await ask(body);
    const { status, text } = await ask({ ...body, stream: true, stream_options: { include_usage: true } });
    expect(status).toBe('HIT');
    const words = [...text.matchAll(/"content":"([^"]*)"/g)].map(([, word]) => word).join('');
    expect(words).toBe('Hello');
    expect(text).toContain('"usage":{');
    expect(text).toEndWith('data: [DONE]\n\n');
  });

  test('messages are replayed in their own dialect, both ways', async () => {
    const config = await world.saveConfig({ provider: '@claude', cache: 'simple' });
    const turn = (stream: boolean, body: object) => ask({ ...body, stream }, { 'x-gw-config': config }, '/v1/messages');
    const one = { ...question(), model: 'claude-sonnet-4-5', max_tokens: 10 };
    const streamed = await turn(true, one);
    const again = await turn(true, one);
    expect([streamed.status, again.status, again.text === streamed.text]).toEqual(['MISS', 'HIT', true]);
    expect(JSON.parse((await turn(false, one)).text)).toMatchObject({
      type: 'message',
      content: [{ type: 'text', text: 'Bonjour' }],
      stop_reason: 'end_turn',
    });
    const two = { ...question(), model: 'claude-sonnet-4-5', max_tokens: 10 };
    const whole = await turn(false, two);
    const told = await turn(true, two);
    expect([whole.status, told.status]).toEqual(['MISS', 'HIT']);
    expect(anthropicMessage(told.text)).toMatchObject({ text: 'Bonjour', last: 'message_stop' });
  });

  test('responses are replayed in their own dialect, both ways', async () => {
    const turn = (stream: boolean, body: object) => ask({ ...body, stream }, {}, '/v1/responses');
    const one = { model: 'gpt-4o-mini', input: `Question ${++asked}` };
    a.script(respondsWith('Guten', ' Tag'));
    const streamed = await turn(true, one);
    const again = await turn(true, one);
    expect([streamed.status, again.status, again.text === streamed.text]).toEqual(['MISS', 'HIT', true]);
    const message = { type: 'message', content: [{ type: 'output_text', text: 'Guten Tag' }] };
    const rebuilt = await turn(false, one);
    expect([rebuilt.status, JSON.parse(rebuilt.text)]).toMatchObject([
      'HIT',
      { object: 'response', output: [message] },
    ]);
    const two = { model: 'gpt-4o-mini', input: `Question ${++asked}` };
    const whole = await turn(false, two);
    const told = await turn(true, two);
    expect([whole.status, told.status]).toEqual(['MISS', 'HIT']);
    const final = await ResponseStream.fromReadableStream(
      new Blob([...told.text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => `${data}\n`)).stream(),
    ).finalResponse();
    expect(final).toMatchObject({ status: 'completed', output_text: 'Guten Tag', output: [message] });
    expect(a.calls).toHaveLength(2);
  });

  test('completions are replayed, both ways', async () => {
    const turn = (stream: boolean, body: object) => ask({ ...body, stream }, {}, '/v1/completions');
    const choice = (text: string, finish_reason: string | null) => ({ text, index: 0, logprobs: null, finish_reason });
    const completion = (...choices: object[]) => ({
      id: 'cmpl-1',
      object: 'text_completion',
      created: 1,
      model: 'm',
      choices,
    });
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    a.script((call, response) => {
      if (!call.json.stream) return json(200, { ...completion(choice('Once upon', 'stop')), usage })(call, response);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const part of [choice('Once', null), choice(' upon', 'stop')]) {
        response.write(`data: ${JSON.stringify(completion(part))}\n\n`);
      }
      response.end('data: [DONE]\n\n');
    });
    const one = { model: 'gpt-4o-mini', prompt: `Question ${++asked}` };
    const streamed = await turn(true, one);
    const again = await turn(true, one);
    expect([streamed.status, again.status, again.text === streamed.text]).toEqual(['MISS', 'HIT', true]);
    expect(JSON.parse((await turn(false, one)).text)).toMatchObject({ choices: [{ text: 'Once upon' }] });
    const two = { model: 'gpt-4o-mini', prompt: `Question ${++asked}` };
    await turn(false, two);
    const told = await turn(true, two);
    expect([told.status, [...told.text.matchAll(/"text":"([^"]*)"/g)].map(([, word]) => word).join('')]).toEqual([
      'HIT',
      'Once upon',
    ]);
  });

  test('a stream that breaks is not kept', async () => {
    const body = question({ stream: true });
    a.script((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(openai.opening);
      response.write(openai.part('Hel'));
      response.end();
    });
    await ask(body);
    a.script(openai.says('whole'));
    expect(await statusOf(body)).toBe('MISS');
  });
});

describe('sound', () => {
  const sound = Buffer.from(Array.from({ length: 100_000 }, (_, at) => (at * 31) % 256));
  const speak = async (input: string) => {
    const body = { model: 'gpt-4o-mini-tts', voice: 'alloy', input };
    const answer = await world.call('/v1/audio/speech', body, { 'x-gw-config': cached });
    const bytes = Buffer.from(await answer.arrayBuffer());
    return [answer.headers.get('x-gw-cache-status'), answer.headers.get('content-type'), bytes.equals(sound)];
  };
  const answers = (headers: Record<string, string>, bytes: Buffer) => {
    a.script((_, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg', ...headers });
      response.end(bytes);
    });
  };

  test('is kept with its type, byte for byte', async () => {
    answers({ 'content-length': String(sound.length) }, sound);
    expect(await speak('Hi')).toEqual(['MISS', 'audio/mpeg', true]);
    expect(await speak('Hi')).toEqual(['HIT', 'audio/mpeg', true]);
    answers({ 'transfer-encoding': 'chunked' }, sound);
    expect(await speak('Hello')).toEqual(['MISS', 'audio/mpeg', true]);
    expect(await speak('Hello')).toEqual(['HIT', 'audio/mpeg', true]);
  });

  test('is not kept where nothing marks its end', async () => {
    answers({ connection: 'close', 'transfer-encoding': 'identity' }, sound);
    await speak('cut');
    expect((await speak('cut'))[0]).toBe('MISS');
  });

  test('is not kept where it is larger than an entry may be', async () => {
    const large = Buffer.alloc(11 * 1024 * 1024, 7);
    answers({ 'content-length': String(large.length) }, large);
    await speak('long');
    expect((await speak('long'))[0]).toBe('MISS');
  });
});

test('the header x-gw-cache stands in for the cache of a config, and a fault in it is named', async () => {
  const config = await world.saveConfig({ provider: '@a' });
  const body = question();
  const through = (value: string) => ask(body, { 'x-gw-config': config, 'x-gw-cache': value });
  expect([(await through('simple')).status, (await through('{"mode":"simple","max_age":60}')).status]).toEqual([
    'MISS',
    'HIT',
  ]);
  expect((await ask(body, { 'x-gw-config': config })).status).toBe('DISABLED');
  for (const wrong of ['fuzzy', '{"mode":"simple","max_age":"x"}', '{"mode"']) {
    expect((await through(wrong)).text).toContain('x-gw-cache');
  }
});

test('each target of a fallback has its own lookup', async () => {
  const config = await world.saveConfig({
    strategy: { mode: 'fallback' },
    cache: 'simple',
    targets: [
      { provider: '@a' },
      { provider: '@claude', override_params: { model: 'claude-sonnet-4-5', max_tokens: 5 } },
    ],
  });
  const body = question();
  a.script(json(503, { error: { message: 'busy' } }));
  expect((await ask(body, { 'x-gw-config': config })).text).toContain('Bonjour');
  expect((await ask(body, { 'x-gw-config': config })).status).toBe('HIT');
  expect([a.calls.length, claude.calls.length]).toEqual([2, 1]);
});

test('a hit costs nothing, and its record says what it saved', async () => {
  const body = question();
  await ask(body);
  const answer = await world.call('/v1/chat/completions', body, { 'x-gw-config': cached });
  await answer.text();
  const [record] = await world.records(answer.headers.get('x-gw-trace-id') ?? '', 1);
  expect(record).toMatchObject({ cache_status: 'HIT', cost: 0, total_units: 0, retry_success_count: 0 });
  expect(record?.saved_cost).toBeGreaterThan(0);
});

test('a thousand equal requests at once are one call', async () => {
  const config = await world.saveConfig({ provider: '@a', cache: { mode: 'simple', coalesce: true } });
  const body = question();
  a.script(async (call, response) => {
    await Bun.sleep(300);
    await openai.says('one for all')(call, response);
  });
  const answers = await Promise.all(Array.from({ length: 1_000 }, () => ask(body, { 'x-gw-config': config })));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(a.calls).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 'HIT')).toHaveLength(999);
});

test('a client that leaves ends nothing for the others', async () => {
  const config = await world.saveConfig({ provider: '@a', cache: { mode: 'simple', coalesce: true } });
  const body = question();
  const slow = async (
    call: Parameters<ReturnType<typeof openai.says>>[0],
    response: Parameters<ReturnType<typeof openai.says>>[1],
  ) => {
    await Bun.sleep(200);
    await openai.says('late')(call, response);
  };
  a.script(slow);
  const leaving = new AbortController();
  const first = world
    .call('/v1/chat/completions', body, { 'x-gw-config': config }, { signal: leaving.signal })
    .catch(() => null);
  while (a.calls.length === 0) await Bun.sleep(5);
  const others = Promise.all([ask(body, { 'x-gw-config': config }), ask(body, { 'x-gw-config': config })]);
  leaving.abort();
  await first;
  for (const { text } of await others) expect(text).toContain('late');
});

test('answers are purged by key, by namespace and by workspace', async () => {
  const { gateway } = world;
  const purge = (query: string) => gateway.delete(`/v1/cache${query}`, undefined, { key: gateway.workspaceKey });
  const [one, two] = [question(), question()];
  const { key } = await ask(one);
  await ask(two);
  expect((await purge(`?key=${key}`)).body).toEqual({});
  expect([await statusOf(one), await statusOf(two)]).toEqual(['MISS', 'HIT']);
  const named = { 'x-gw-cache-namespace': 'team' };
  await ask(one, named);
  await purge('?namespace=team');
  expect([await statusOf(one, named), await statusOf(two)]).toEqual(['MISS', 'HIT']);
  await purge('');
  expect([await statusOf(one), await statusOf(two)]).toEqual(['MISS', 'MISS']);
  expect((await purge('?key=nothing')).status).toBe(400);
  expect((await gateway.delete('/v1/cache')).status).toBe(400);
});

test('an age of zero or of a year, and an unknown mode, are refused', async () => {
  for (const cache of [{ mode: 'simple', max_age: 0 }, { mode: 'simple', max_age: 31_536_000 }, { mode: 'clever' }]) {
    const { status, body } = await world.gateway.post('/v1/configs', { name: 'x', config: { cache } });
    expect(status).toBe(400);
    expect(body.data.errors[0].path).toStartWith('config.cache');
  }
});
