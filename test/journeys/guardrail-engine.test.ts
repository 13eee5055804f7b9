/** How guardrails are run, whatever the dialect: checks in error, feedback, order, fallback and retry, and kinds of request. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Plane } from '../gateway-deps.ts';
import { type GuardedPlane, startGuardedPlane } from '../guarded-plane.ts';
import { hideKeys, noSecret, type Spoken, spoken } from '../guardrail-dialects.ts';
import type { Json } from '../harness.ts';
import * as openai from '../providers/openai.ts';
import { json, type SimulatedProvider } from '../providers/simulated.ts';

let guarded: GuardedPlane;
let plane: Plane;
let a: SimulatedProvider;
let b: SimulatedProvider;

beforeAll(async () => {
  guarded = await startGuardedPlane({ request_logging: 'full' });
  ({ plane, a, b } = guarded);
});
afterAll(() => guarded.stop());
beforeEach(() => {
  for (const provider of [a, b]) provider.calls.length = 0;
  a.script(openai.says('from a'));
  b.script(openai.says('from b'));
});
afterEach(async () => {
  expect(plane.faults).toEqual([]);
  await plane.settled();
});

const sentToA = (): Json => a.calls[0]?.json as Json;

const ask = (
  dialect: Spoken,
  config: object,
  text = 'hello',
  more: object = {},
  headers: Record<string, string> = {},
) =>
  plane.call(
    dialect.path,
    { ...dialect.ask(text), ...more },
    { 'x-gw-config': JSON.stringify({ ...dialect.target, ...config }), ...headers },
  );

const { chat } = spoken as { chat: Spoken };

describe('the engine', () => {
  const before = (body: Json) => body.hook_results.before_request_hooks;

  test('a guardrail whose checks are all switched off passes with no checks', async () => {
    const hook = {
      id: 'off',
      deny: true,
      checks: [{ id: 'default.contains', parameters: { words: ['x'] }, is_enabled: false }],
    };
    const response = await ask(chat, { before_request_hooks: [hook] });
    expect([response.status, before(await response.json())[0].checks]).toEqual([200, []]);
  });

  test('checks with errors pass, and deny where errors fail them', async () => {
    const failing = (more: object) => ({
      deny: true,
      checks: [{ id: 'default.webhook', parameters: { webhookURL: 'http://127.0.0.1:1/x', timeout: 300, ...more } }],
    });
    const open = await ask(chat, { before_request_hooks: [failing({})] });
    expect([open.status, before(await open.json())[0].checks[0].error.name]).toEqual([200, 'Connection Error']);
    const closed = await ask(chat, { before_request_hooks: [failing({ failOnError: true })] });
    expect(closed.status).toBe(446);
  });

  test('feedback names what succeeded, failed and was in error', async () => {
    const hook = {
      checks: [
        { id: 'default.contains', parameters: { words: ['hello'] } },
        { id: 'default.wordCount', parameters: { minWords: 50 } },
        { id: 'default.modelWhitelist', parameters: { models: [] } },
      ],
      on_fail: { feedback: { value: -3, metadata: { team: 'sec' } } },
    };
    const body: Json = await (await ask(chat, { before_request_hooks: [hook] })).json();
    expect(before(body)[0].feedback).toEqual({
      value: -3,
      weight: 1,
      metadata: {
        team: 'sec',
        successfulChecks: 'default.contains',
        failedChecks: 'default.wordCount',
        erroredChecks: 'default.modelWhitelist',
      },
    });
  });

  test('in order a count sees what was redacted before it, in parallel it does not', async () => {
    const checks = [
      { id: 'default.regexReplace', parameters: { rule: 'hello', redactText: '' } },
      { id: 'default.characterCount', parameters: { minCharacters: 10 } },
    ];
    const counts = [];
    for (const sequential of [true, false]) {
      const body: Json = await (
        await ask(chat, { before_request_hooks: [{ sequential, checks }] }, 'hello world')
      ).json();
      counts.push(before(body)[0].checks[1].data.characterCount);
    }
    expect(counts).toEqual([6, 11]);
  });

  test('two guardrails without an id have labels of their own', async () => {
    const body: Json = await (await ask(chat, { input_guardrails: [noSecret(), noSecret()] })).json();
    expect(new Set(before(body).map(({ id }: Json) => id)).size).toBe(2);
  });

  test('output guardrails do not look at errors of the provider', async () => {
    a.script(openai.serverError);
    const response = await ask(chat, { output_guardrails: [noSecret({ deny: true })] });
    expect([response.status, (await response.text()).includes('hook_results')]).toEqual([500, false]);
  });

  test('a fallback on 446 and 246 tries every target, and each is guarded anew', async () => {
    const config = {
      strategy: { mode: 'fallback', on_status_codes: [246, 446] },
      targets: [{ provider: '@a' }, { provider: '@b' }],
      input_guardrails: [noSecret({ deny: true })],
      provider: undefined,
    };
    const response = await ask(chat, config, 'a secret');
    expect([response.status, a.calls.length, b.calls.length]).toEqual([446, 0, 0]);
    expect((await plane.settled()).map(({ metrics }) => metrics.response_status_code)).toEqual([446, 446]);
  });

  test('without a list a denied target falls through to the next, whose own list of guardrails counts', async () => {
    const config = {
      strategy: { mode: 'fallback' },
      targets: [
        { provider: '@a', output_guardrails: [noSecret({ deny: true })] },
        { provider: '@b', output_guardrails: [] },
      ],
      provider: undefined,
    };
    a.script(openai.says('the secret'));
    const body: Json = await (await ask(chat, config)).json();
    expect([chat.text(body), a.calls.length, b.calls.length]).toEqual(['from b', 1, 1]);
  });

  test('a retry on 246 asks again at once and tells only the last results', async () => {
    a.script(openai.says('the secret'), openai.says('the secret'), openai.says('all well'));
    const config = { retry: { attempts: 5, on_status_codes: [246] }, output_guardrails: [noSecret()] };
    const response = await ask(chat, config);
    const body: Json = await response.json();
    expect([
      response.status,
      a.calls.length,
      body.hook_results.after_request_hooks.length,
      body.hook_results.after_request_hooks[0].verdict,
    ]).toEqual([200, 3, 1, true]);
    expect(plane.waits.slice(-2)).toEqual([0, 0]);
  });

  test('one check that is not soft makes a denial hard', async () => {
    const hook = {
      deny: true,
      checks: [
        { id: 'default.contains', parameters: { words: ['secret'], operator: 'none' }, soft_deny_200: true },
        { id: 'default.wordCount', parameters: { minWords: 50 } },
      ],
    };
    expect((await ask(chat, { before_request_hooks: [hook] }, 'a secret')).status).toBe(446);
    expect(
      (await ask(chat, { before_request_hooks: [{ ...hook, checks: hook.checks.slice(0, 1) }] }, 'a secret')).status,
    ).toBe(200);
  });

  test('pictures of the last message stay as they are, and earlier turns are not looked at', async () => {
    const picture = { type: 'image_url', image_url: { url: 'https://a.example/x.png' } };
    const messages = [
      { role: 'user', content: 'sk-old1' },
      { role: 'assistant', content: 'sk-old2' },
      { role: 'user', content: [picture, { type: 'text', text: 'my sk-1' }] },
    ];
    await (await ask(chat, { input_guardrails: [hideKeys()] }, '', { messages })).text();
    expect(sentToA().messages).toEqual([
      ...messages.slice(0, 2),
      { role: 'user', content: [picture, { type: 'text', text: 'my [KEY]' }] },
    ]);
  });

  test('results of several tools that stand at the end are all looked at', async () => {
    const messages = [
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: '1', type: 'function', function: { name: 'f', arguments: '{}' } },
          { id: '2', type: 'function', function: { name: 'f', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: '1', content: 'sk-1' },
      { role: 'tool', tool_call_id: '2', content: 'sk-2' },
    ];
    await (await ask(chat, { input_guardrails: [hideKeys()] }, '', { messages })).text();
    expect(
      sentToA()
        .messages.slice(1)
        .map(({ content }: Json) => content),
    ).toEqual(['[KEY]', '[KEY]']);
  });

  test('an answer that only calls a tool is not empty, and its arguments are looked at and redacted', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'mail', arguments: '{"to":"sk-abc"}' } };
    a.script(
      json(200, {
        ...openai.completion(''),
        choices: [
          { index: 0, message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' },
        ],
      }),
    );
    const config = {
      output_guardrails: [
        { 'default.notNull': {}, 'default.contains': { words: ['sk-'], operator: 'any' }, ...hideKeys(), deny: true },
      ],
    };
    const body: Json = await (await ask(chat, config)).json();
    expect(body.choices[0].message.tool_calls[0].function.arguments).toBe('{"to":"[KEY]"}');
  });

  test('every choice is looked at', async () => {
    a.script(
      json(200, {
        ...openai.completion('fine'),
        choices: [
          { index: 0, message: { role: 'assistant', content: 'fine' }, finish_reason: 'stop' },
          { index: 1, message: { role: 'assistant', content: 'a secret' }, finish_reason: 'stop' },
        ],
      }),
    );
    expect((await ask(chat, { output_guardrails: [noSecret({ deny: true })] }, 'hello', { n: 2 })).status).toBe(446);
  });

  test('headers that stand for defaults inside are none from outside', async () => {
    const response = await ask(
      chat,
      {},
      'a secret',
      {},
      { 'x-gw-default-input-guardrails': JSON.stringify([noSecret({ deny: true })]) },
    );
    expect(response.status).toBe(200);
  });

  test('an inline guardrail that cannot run is refused with its place', async () => {
    const response = await ask(chat, { input_guardrails: [{ 'default.regexMatch': { rule: '[' } }] });
    const body: Json = await response.json();
    expect([response.status, body.error.code, body.error.message.includes('input_guardrails[0]')]).toEqual([
      400,
      'invalid_config',
      true,
    ]);
    expect((await ask(chat, { input_guardrails: ['guard-nobody-000000'] })).status).toBe(400);
  });

  test('with inline configs blocked, an inline guardrail is rejected', async () => {
    const { data_plane_security_settings: before } = plane.settings;
    plane.settings = { ...plane.settings, data_plane_security_settings: { block_inline_config: true } };
    const response = await ask(chat, { input_guardrails: [noSecret()] });
    plane.settings = { ...plane.settings, data_plane_security_settings: before };
    expect([response.status, ((await response.json()) as Json).error.code]).toEqual([400, 'inline_config_blocked']);
  });
});

describe('embeddings', () => {
  const vectors = json(200, {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [0.1] }],
    model: 'e',
    usage: { prompt_tokens: 1, total_tokens: 1 },
  });
  const embed = (config: object, input: unknown = 'a secret sk-1') =>
    plane.call(
      '/v1/embeddings',
      { model: 'text-embedding-3-small', input },
      { 'x-gw-config': JSON.stringify({ provider: '@a', ...config }) },
    );
  beforeEach(() => a.script(vectors));

  test('input is checked, and a soft denial stays 446', async () => {
    expect((await embed({ input_guardrails: [noSecret({ deny: true })] })).status).toBe(446);
    expect((await embed({ input_guardrails: [noSecret({ deny: true, soft_deny_200: true })] })).status).toBe(446);
    expect((await embed({ input_guardrails: [noSecret()] })).status).toBe(246);
    expect((await embed({ input_guardrails: [noSecret({ deny: true })] }, ['fine', 'a secret'])).status).toBe(446);
  });

  test('redaction is an error that passes, and output is not looked at', async () => {
    const response = await embed({ input_guardrails: [hideKeys()], output_guardrails: [noSecret({ deny: true })] });
    const body: Json = await response.json();
    expect([response.status, body.hook_results.before_request_hooks[0].checks[0].error.name]).toEqual([
      200,
      'Unsupported request',
    ]);
    expect(sentToA().input).toBe('a secret sk-1');
  });
});

describe('kinds of request', () => {
  const only = (...allowedTypes: string[]) => ({
    input_guardrails: [{ 'default.allowedRequestTypes': { allowedTypes }, ...noSecret(), deny: true }],
    provider: '@a',
  });
  const call = (path: string, config: object) =>
    plane.call(path, { model: 'm', prompt: 'a secret' }, { 'x-gw-config': JSON.stringify(config) });

  test('are decided on routes without text and on the proxy, where no other check runs', async () => {
    a.script(json(200, { ok: true }));
    expect((await call('/v1/images/generations', only('chatComplete'))).status).toBe(446);
    expect((await call('/v1/images/generations', only('imageGenerate'))).status).toBe(200);
    expect((await call('/v1/proxy/anything', only('chatComplete'))).status).toBe(446);
    expect((await call('/v1/proxy/anything', only('proxy'))).status).toBe(200);
    expect((await call('/v1/models', only('chatComplete'))).status).not.toBe(200);
  });
});
