/** Vertex AI behind OpenAI's and Anthropic's SDKs: every publisher at its address, in its dialect, with a credential that the service knows. */
import { beforeAll, describe, expect, test } from 'bun:test';
import type { APIError, OpenAI } from 'openai';
import { anthropicClient, openaiClient } from '../clients.ts';
import type { Json } from '../harness.ts';
import { sharedByTests } from '../journey.ts';
import { startGemini } from '../providers/gemini.ts';
import * as openai from '../providers/openai.ts';
import { json, lastCall, type SimulatedProvider } from '../providers/simulated.ts';
import * as vertex from '../providers/vertex.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;
let client: OpenAI;

const save = (slug: string, more: object = {}, key: object = { key: 'ya29.token' }): Promise<void> =>
  world.saveProvider(slug, 'vertex-ai', provider, {
    ...key,
    configurations: { custom_host: provider.url, ...vertex.settings, ...more },
  });

beforeAll(async () => {
  provider = await startGemini(vertex.says('Hello'));
  world = await startWorld({}, { METADATA_MAP_KEY_PREFIX: 'ai_' });
  await save('vtx');
  client = openaiClient(world, { 'x-gw-provider': '@vtx' });
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);

const messages = [{ role: 'user' as const, content: 'Say hello.' }];
const gemini = { model: 'gemini-2.5-flash', messages };
const claude = { model: 'anthropic.claude-sonnet-4-5@20250929', messages };
const received = () => lastCall(provider);
const streamed = async (body: { model: string; messages: typeof messages }) => {
  const events = client.chat.completions.stream({ ...body, stream: true, stream_options: { include_usage: true } });
  return events.finalChatCompletion();
};
const failure = (asking: PromiseLike<unknown>): Promise<APIError> =>
  Promise.resolve(asking).then(
    () => Promise.reject(new Error('Nothing failed')),
    (fault: APIError) => fault,
  );

describe('Gemini', () => {
  test('is asked in the project and its region, whole and streamed', async () => {
    provider.script(vertex.says('Hello there', (token) => token === 'ya29.token'));
    for (const model of ['gemini-2.5-flash', 'google.gemini-2.5-flash']) {
      const { data, response } = await client.chat.completions.create({ ...gemini, model }).withResponse();
      expect(data.choices[0]?.message.content).toBe('Hello there');
      expect(received().path).toBe(`/v1/${vertex.place}/publishers/google/models/gemini-2.5-flash:generateContent`);
      const [log] = await world.records(response.headers.get('x-gw-trace-id') ?? '', 1);
      // Cents: 20 × $0.30 and 10 × $2.50, each for a million tokens.
      expect(log?.cost).toBeCloseTo((20 * 0.3 + 10 * 2.5) / 10_000, 10);
    }
    expect((await streamed(gemini)).choices[0]?.message.content).toBe('Hello there');
    expect(received().path).toBe(
      `/v1/${vertex.place}/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse`,
    );
  });

  test('gets what is said about the request as labels, where its integration asks for that', async () => {
    await save('labelled', { vertex_map_metadata: true });
    const headers = { 'x-gw-metadata': '{"Cost Centre":"R&D 7"}' };
    await openaiClient(world, { 'x-gw-provider': '@labelled', ...headers }).chat.completions.create(gemini);
    expect(received().json.labels).toEqual({ ai_cost_centre: 'r_d_7' });
    await client.chat.completions.create(gemini, { headers });
    expect(received().json.labels).toBeUndefined();
  });

  test('reads addresses by itself, gets labels, and names its tier in a header', async () => {
    provider.script(vertex.says('A cat.'));
    const content = [
      { type: 'image_url' as const, image_url: { url: 'gs://b/cat.png' } },
      { type: 'image_url' as const, image_url: { url: 'https://a.test/dog.jpg' } },
    ];
    const labels = { labels: { Team: 'Search' } };
    await client.chat.completions.create({
      model: gemini.model,
      messages: [{ role: 'user', content }],
      service_tier: 'priority',
      ...labels,
    });
    expect(received().json).toEqual({
      contents: [
        {
          role: 'user',
          parts: [
            { fileData: { mimeType: 'image/png', fileUri: 'gs://b/cat.png' } },
            { fileData: { mimeType: 'image/jpeg', fileUri: 'https://a.test/dog.jpg' } },
          ],
        },
      ],
      labels: { team: 'search' },
    });
    expect(received().headers['x-vertex-ai-llm-shared-request-type']).toBe('priority');
  });

  test('is counted in Anthropic’s dialect', async () => {
    provider.script(vertex.known(json(200, { totalTokens: 5 })));
    const counted = await anthropicClient(world, { 'x-gw-provider': '@vtx' }).messages.countTokens({
      ...gemini,
      system: 'Hm.',
    });
    expect(counted.input_tokens).toBe(5);
    expect(received().json).toEqual({
      systemInstruction: { parts: [{ text: 'Hm.' }] },
      contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }],
    });
  });
});

describe('Anthropic', () => {
  const scripted = { content: [{ type: 'text', text: 'Good day to you.' }] };
  const path = (method: string) =>
    `/v1/${vertex.place}/publishers/anthropic/models/claude-sonnet-4-5%4020250929:${method}`;

  test('answers chat, whole and streamed', async () => {
    provider.script(vertex.claudeAnswers(scripted));
    const whole = await client.chat.completions.create({ ...claude, max_tokens: 50 });
    expect(whole.choices[0]).toMatchObject({ message: { content: 'Good day to you.' }, finish_reason: 'stop' });
    expect([received().path, received().json]).toEqual([
      path('rawPredict'),
      {
        anthropic_version: 'vertex-2023-10-16',
        max_tokens: 50,
        messages,
      },
    ]);
    const final = await streamed(claude);
    expect(final.choices[0]).toMatchObject({ message: { content: 'Good day to you.' }, finish_reason: 'stop' });
    expect(final.usage).toMatchObject({ prompt_tokens: 25, completion_tokens: 15 });
    expect([received().path, received().json.stream]).toEqual([path('streamRawPredict'), true]);
  });

  test('gives structured output by a tool', async () => {
    const input = { city: 'Rome' };
    provider.script((call, response) => {
      const [tool] = call.json.tools;
      const content = [{ type: 'tool_use', id: 'toolu_1', name: tool.name, input }];
      return vertex.claudeAnswers({ content, stop_reason: 'tool_use' })(call, response);
    });
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    };
    const answer = await client.chat.completions.create({
      ...claude,
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema } },
    });
    expect(JSON.parse(answer.choices[0]?.message.content ?? '')).toEqual(input);
    expect(answer.choices[0]?.finish_reason).toBe('stop');
  });

  test('is reached by its own SDK on its own route', async () => {
    provider.script(vertex.claudeAnswers(scripted));
    const own = anthropicClient(world, {
      'x-gw-provider': '@vtx',
      'anthropic-beta': 'context-1m-2025-08-07,files-api-2025-04-14',
    });
    const message = await own.messages.create({
      ...claude,
      max_tokens: 50,
      system: [{ type: 'text', text: 'Be polite.' }],
    });
    expect(message.content as Json).toEqual(scripted.content);
    expect(received().json).toEqual({
      anthropic_version: 'vertex-2023-10-16',
      max_tokens: 50,
      system: [{ type: 'text', text: 'Be polite.' }],
      messages,
    });
    expect(received().headers['anthropic-beta']).toBe('context-1m-2025-08-07');
    const events: string[] = [];
    const streaming = own.messages.stream({ ...claude, max_tokens: 50 });
    for await (const { type } of streaming) events.push(type);
    expect(events).not.toContain('vertex_event');
    expect((await streaming.finalMessage()).content as Json).toMatchObject(scripted.content);
    const counted = await own.messages.countTokens(claude);
    expect(counted.input_tokens).toBe(11);
    expect([received().path, received().json]).toEqual([
      `/v1/${vertex.place}/publishers/anthropic/models/count-tokens:rawPredict`,
      { anthropic_version: 'vertex-2023-10-16', model: 'claude-sonnet-4-5@20250929', messages },
    ]);
  });

  test('reports faults in its own words, or in Google’s', async () => {
    provider.script(json(429, { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down.' } }));
    expect(await failure(client.chat.completions.create(claude))).toMatchObject({
      status: 429,
      message: '429 vertex-ai error: Slow down.',
    });
    provider.script(json(403, [{ error: { code: 403, message: 'Not enabled.', status: 'PERMISSION_DENIED' } }]));
    expect(await failure(client.chat.completions.create(claude))).toMatchObject({
      status: 403,
      message: '403 vertex-ai error: Not enabled.',
    });
  });
});

describe('other publishers', () => {
  test.each([
    [
      'mistralai.mistral-small-2503',
      `/v1/${vertex.place}/publishers/mistralai/models/mistral-small-2503:rawPredict`,
      'mistral-small-2503',
    ],
    [
      'meta.llama-4-maverick-17b-128e-instruct-maas',
      `/v1beta1/${vertex.place}/endpoints/openapi/chat/completions`,
      'meta/llama-4-maverick-17b-128e-instruct-maas',
    ],
    [
      'qwen/qwen3-coder-480b-a35b-instruct-maas',
      `/v1beta1/${vertex.place}/endpoints/openapi/chat/completions`,
      'qwen/qwen3-coder-480b-a35b-instruct-maas',
    ],
    ['endpoints.123456', `/v1/${vertex.place}/endpoints/123456/chat/completions`, '123456'],
  ])('%s speaks OpenAI’s dialect at its own address', async (model, path, name) => {
    provider.script(vertex.known(openai.says('Hello', ' there')));
    const answer = await client.chat.completions.create({ model, messages });
    expect(answer.choices[0]?.message.content).toBe('Hello there');
    expect([received().path, received().json]).toEqual([path, { model: name, messages }]);
    expect((await streamed({ model, messages })).choices[0]?.message.content).toBe('Hello there');
    expect(received().path).toBe(path.replace('rawPredict', 'streamRawPredict'));
  });
});

describe('what other publishers spell otherwise', () => {
  const spelled: Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'model'> = {
    messages: [{ role: 'developer', content: 'Be brief.' }, ...messages],
    max_completion_tokens: 9,
    seed: 1,
    tools: [{ type: 'function', function: { name: 'f', strict: true } }],
    tool_choice: 'required',
  };
  const asSystem = [{ role: 'system', content: 'Be brief.' }, ...messages];

  test('is written as Mistral does', async () => {
    provider.script(vertex.known(openai.says('Hello')));
    await client.chat.completions.create({ model: 'mistralai.mistral-small-2503', ...spelled });
    expect(received().json).toEqual({
      model: 'mistral-small-2503',
      messages: asSystem,
      max_tokens: 9,
      random_seed: 1,
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: 'any',
    });
  });

  test.each(['meta.llama-4-scout-maas', 'endpoints.123456'])(
    'is left to %s, but for a role that only some know',
    async (model) => {
      provider.script(vertex.known(openai.says('Hello')));
      await client.chat.completions.create({ model, ...spelled });
      expect(received().json).toEqual({ ...spelled, model: expect.any(String), messages: asSystem });
    },
  );
});

describe('a credential', () => {
  test('that is a key travels as one', async () => {
    await save('vtxkey', {}, { key: 'AIzaSyExample' });
    provider.script(vertex.says('Hello'));
    await openaiClient(world, { 'x-gw-provider': '@vtxkey' }).chat.completions.create(gemini);
    expect(received().headers).toMatchObject({ 'x-goog-api-key': 'AIzaSyExample' });
    expect(received().headers.authorization).toBeUndefined();
  });

  test('of the gateway’s own is fetched once, and once more when the service refuses it', async () => {
    let count = 0;
    const metadata = await startGemini((call, response) =>
      json(200, { access_token: `token-${++count}`, expires_in: 3_600 })(call, response),
    );
    const platform = {
      GCP_AUTH_MODE: 'workload',
      GCE_METADATA_HOST: new URL(metadata.url).host,
      TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    };
    Object.assign(process.env, platform);
    try {
      await save('vtxown', { vertex_auth_type: 'workload' }, {});
      const own = openaiClient(world, { 'x-gw-provider': '@vtxown' });
      provider.script(vertex.says('Hello', (token) => token === 'token-2'));
      expect((await own.chat.completions.create(gemini)).choices[0]?.message.content).toBe('Hello');
      expect(provider.calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
      await own.chat.completions.create(gemini);
      expect([count, received().headers.authorization]).toEqual([2, 'Bearer token-2']);
      provider.script(vertex.says('Hello', () => false));
      provider.calls.length = 0;
      expect(await failure(own.chat.completions.create(gemini))).toMatchObject({ status: 401 });
      expect(provider.calls).toHaveLength(2);
    } finally {
      for (const name of Object.keys(platform)) delete process.env[name];
      await metadata.stop();
    }
  });
});
