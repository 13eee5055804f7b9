/** OpenAI's own SDK on chat and completions: answers, streams, tools, errors, and where our key may stand. */
import { beforeAll, describe, expect, test } from 'bun:test';
import OpenAI, { APIError } from 'openai';
import { openaiClient } from '../clients.ts';
import { sharedByTests } from '../journey.ts';
import * as openai from '../providers/openai.ts';
import { json, type SimulatedProvider, startProvider, stream } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;
let client: OpenAI;

beforeAll(async () => {
  provider = await startProvider(openai.says('Hello'));
  world = await startWorld({ a: { provider: 'openai', simulated: provider } });
  client = openaiClient(world, { 'x-gw-provider': '@a' });
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);

const messages = [{ role: 'user' as const, content: 'Say hello.' }];
const question = { model: 'gpt-4o-mini', messages };
const received = () => {
  const call = provider.calls[0];
  if (!call) throw new Error('The provider was not asked');
  return call;
};

describe('an answer', () => {
  test('is what the provider sent, field for field', async () => {
    provider.script(openai.says('Hello', ' there'));
    const answer = await client.chat.completions.create(question);
    expect(answer as unknown).toEqual(openai.completion('Hello there'));
    expect(received()).toMatchObject({ method: 'POST', path: '/v1/chat/completions', json: question });
    expect(received().headers.authorization).toBe('Bearer sk-a-secret');
  });

  test('carries what happened on the way in its headers', async () => {
    provider.script(openai.says('Hello'));
    const { response } = await client.chat.completions.create(question).withResponse();
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      'x-gw-provider': 'openai',
      'x-gw-retry-attempt-count': '0',
      'x-gw-cache-status': 'DISABLED',
      'x-gw-last-used-option-index': 'config',
    });
    expect(headers['x-gw-trace-id']).toBeString();
    expect(headers['x-gw-request-id']).toBeString();
  });

  test('keeps tools, structured output and fields that nobody here knows', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } };
    const message = { role: 'assistant', content: null, refusal: null, tool_calls: [call], annotations: [] };
    const whole = openai.completion('');
    const [choice] = whole.choices;
    const sent = { ...whole, choices: [{ ...choice, message, finish_reason: 'tool_calls' }], brand_new: { a: [1] } };
    provider.script(json(200, sent));
    const asked = {
      ...question,
      tools: [
        {
          type: 'function' as const,
          function: { name: 'weather', strict: true, parameters: { type: 'object', additionalProperties: false } },
        },
      ],
      tool_choice: 'auto' as const,
      parallel_tool_calls: false,
      response_format: {
        type: 'json_schema' as const,
        json_schema: { name: 'city', strict: true, schema: { type: 'object' } },
      },
      reasoning_effort: 'low' as const,
      prompt_cache_key: 'k',
      something_new: { deep: [true, null] },
    };
    const answer = await client.chat.completions.create(asked);
    expect(received().json).toEqual(asked);
    expect(answer as unknown).toEqual(sent);
  });

  test('of the older completions route comes the same way', async () => {
    const sent = {
      id: 'cmpl-1',
      object: 'text_completion',
      created: 1_760_000_000,
      model: 'gpt-3.5-turbo-instruct',
      choices: [{ text: ' world', index: 0, logprobs: null, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    };
    provider.script(json(200, sent));
    const answer = await client.completions.create({ model: 'gpt-3.5-turbo-instruct', prompt: 'Hello', suffix: '!' });
    expect(answer as unknown).toEqual(sent);
    expect(received()).toMatchObject({ path: '/v1/completions', json: { prompt: 'Hello', suffix: '!' } });
  });
});

describe('a stream', () => {
  test('arrives chunk by chunk, with the usage at its end', async () => {
    provider.script(openai.says('One', ' two', ' three'));
    const chunks = await client.chat.completions.create({
      ...question,
      stream: true,
      stream_options: { include_usage: true },
    });
    const texts: string[] = [];
    let total: number | undefined;
    for await (const chunk of chunks) {
      texts.push(chunk.choices[0]?.delta.content ?? '');
      total = chunk.usage?.total_tokens ?? total;
    }
    expect({ text: texts.join(''), total }).toEqual({ text: 'One two three', total: 30 });
    expect(received().json).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  test('of a tool call is put together by the SDK as the provider meant it', async () => {
    const delta = (fields: object, finish: string | null = null) =>
      `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini', choices: [{ index: 0, delta: fields, finish_reason: finish }] })}\n\n`;
    const part = (fields: object) => delta({ tool_calls: [{ index: 0, ...fields }] });
    provider.script(
      stream([
        delta({ role: 'assistant', content: null }),
        part({ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } }),
        part({ function: { arguments: '{"city":' } }),
        part({ function: { arguments: '"Rome"}' } }),
        delta({}, 'tool_calls'),
        openai.done,
      ]),
    );
    const final = await client.chat.completions.stream(question).finalChatCompletion();
    expect(final.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      id: 'call_1',
      function: { name: 'weather', arguments: '{"city":"Rome"}' },
    });
  });

  test('that breaks is an error in the SDK, never a short answer', async () => {
    const half = Promise.withResolvers<void>();
    provider.script(stream([openai.opening, openai.part('Half')], 'cut', half.promise));
    const chunks = await client.chat.completions.create({ ...question, stream: true });
    const texts: string[] = [];
    const reading = (async () => {
      for await (const chunk of chunks) {
        texts.push(chunk.choices[0]?.delta.content ?? '');
        if (texts.includes('Half')) half.resolve();
      }
    })();
    const error = await reading.catch((fault: unknown) => fault);
    expect(texts.join('')).toBe('Half');
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ code: 'stream_incomplete', type: 'api_error' });
  });
});

describe('an error', () => {
  const failure = async (asking: Promise<unknown>): Promise<APIError> => {
    const error = await asking.then(
      () => null,
      (fault: unknown) => fault,
    );
    if (!(error instanceof APIError)) throw new Error(`No error of the SDK: ${error}`);
    return error;
  };

  test('of the provider keeps its status, type, code, param and words', async () => {
    provider.script(
      json(404, {
        error: {
          message: 'The model `gpt-9` does not exist',
          type: 'invalid_request_error',
          param: 'model',
          code: 'model_not_found',
        },
      }),
    );
    const error = await failure(client.chat.completions.create({ ...question, model: 'gpt-9' }));
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect({ ...error }).toMatchObject({
      status: 404,
      code: 'model_not_found',
      type: 'invalid_request_error',
      param: 'model',
    });
    expect(error.message).toBe('404 The model `gpt-9` does not exist');
  });

  test('429 of the provider is a rate limit error with its headers', async () => {
    provider.script(openai.rateLimited({ 'retry-after': '7', 'x-ratelimit-remaining-requests': '0' }));
    const error = await failure(client.chat.completions.create(question));
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(error.headers?.get('retry-after')).toBe('7');
    expect(error.headers?.get('x-ratelimit-remaining-requests')).toBe('0');
  });

  test('a stream that the provider refuses is an ordinary error', async () => {
    provider.script(openai.contextOverflow);
    const error = await failure(client.chat.completions.create({ ...question, stream: true }));
    expect({ status: error.status, code: error.code }).toEqual({ status: 400, code: 'context_length_exceeded' });
  });

  test('of the gateway has a type, a code and a message that says so', async () => {
    const unknownKey = await failure(openaiClient(world, {}, 'gw-unknown').chat.completions.create(question));
    expect(unknownKey).toBeInstanceOf(OpenAI.AuthenticationError);
    expect({ ...unknownKey }).toMatchObject({ status: 401, code: 'invalid_api_key', type: 'authentication_error' });
    expect(unknownKey.message).toContain('Gateway error: ');
    const noProvider = await failure(openaiClient(world).chat.completions.create(question));
    expect({ ...noProvider }).toMatchObject({ status: 400, code: 'missing_provider', type: 'invalid_request_error' });
    const noConfig = await failure(openaiClient(world, { 'x-gw-config': 'gone' }).chat.completions.create(question));
    expect({ ...noConfig }).toMatchObject({ status: 400, code: 'config_not_found' });
    expect(provider.calls).toEqual([]);
  });

  test('an admin key is told that it makes no model calls', async () => {
    const { gateway } = world;
    const error = await failure(openaiClient(world, {}, gateway.adminKey).chat.completions.create(question));
    expect({ ...error }).toMatchObject({ status: 403, code: 'key_type_not_allowed', type: 'permission_error' });
    expect(error.error).toMatchObject({ code: 'key_type_not_allowed' });
  });
});

describe('the address and the key', () => {
  test('a model that names its provider needs no header at all', async () => {
    provider.script(openai.says('Hello'));
    const answer = await openaiClient(world).chat.completions.create({ ...question, model: '@a/gpt-4o-mini' });
    expect(answer.choices[0]?.message.content).toBe('Hello');
    expect(received().json.model).toBe('gpt-4o-mini');
  });

  test('an address that ends in the version twice, or in a slash, works too', async () => {
    for (const end of ['/v1/v1', '/v1/']) {
      const doubled = new OpenAI({ apiKey: world.gateway.workspaceKey, baseURL: world.gateway.url + end });
      await doubled.chat.completions.create({ ...question, model: '@a/gpt-4o-mini' });
    }
    expect(provider.calls.map(({ path }) => path)).toEqual(['/v1/chat/completions', '/v1/chat/completions']);
  });

  test('an address without the version is told where to go', async () => {
    const bare = new OpenAI({ apiKey: world.gateway.workspaceKey, baseURL: world.gateway.url, maxRetries: 0 });
    const error = await bare.chat.completions.create(question).catch((fault: unknown) => fault);
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
  });

  test('our key reaches the provider under no header', async () => {
    const { workspaceKey } = world.gateway;
    provider.script(openai.says('Hello'));
    const twice = { 'x-gw-provider': '@a', 'x-gw-api-key': workspaceKey, 'x-api-key': workspaceKey };
    await openaiClient(world, twice).chat.completions.create(question);
    expect(JSON.stringify(received().headers)).not.toContain(workspaceKey);
    expect(received().headers.authorization).toBe('Bearer sk-a-secret');
  });
});
