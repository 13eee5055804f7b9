/** The edge cases of guardrails that do not depend on a route, each in every dialect, whole and streamed, with what the provider saw of them. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { guardInput } from '../../src/gateway/guardrails/guard-input.ts';
import { guardOutput } from '../../src/gateway/guardrails/guard-output.ts';
import { reportHooks } from '../../src/gateway/guardrails/report.ts';
import { type Plane, savedProvider, startPlane } from '../gateway-deps.ts';
import { eventsIn, hideKeys, jsonIn, noSecret, type Spoken, spoken, textIn } from '../guardrail-dialects.ts';
import type { Json } from '../harness.ts';
import * as anthropic from '../providers/anthropic.ts';
import * as openai from '../providers/openai.ts';
import { json, type SimulatedProvider, startProvider, stream as streamOf } from '../providers/simulated.ts';

let plane: Plane;
let a: SimulatedProvider;
let b: SimulatedProvider;

beforeAll(async () => {
  a = await startProvider();
  b = await startProvider();
  plane = startPlane();
  plane.deps.steps = { send: [guardInput], answer: [guardOutput, reportHooks] };
  plane.providers.set('a', savedProvider('a', { customHost: a.url }));
  plane.providers.set('b', savedProvider('b', { customHost: b.url }));
  plane.providers.set('claude', savedProvider('claude', { provider: 'anthropic', customHost: a.url }));
  plane.providers.set('claude-b', savedProvider('claude-b', { provider: 'anthropic', customHost: b.url }));
});
afterAll(async () => {
  await plane.stop();
  await a.stop();
  await b.stop();
});
afterEach(async () => {
  expect(plane.faults).toEqual([]);
  await plane.settled();
});

const lax = { 'x-gw-strict-open-ai-compliance': 'false' };

interface Told {
  status: number;
  body: string;
  before: Json[];
  after: Json[];
  text: string;
}

/** What a client that wants to hear of guardrails is told, however the answer comes. */
async function told(dialect: Spoken, response: Response): Promise<Told> {
  const body = await response.text();
  const isStream = response.headers.get('content-type')?.includes('event-stream') ?? false;
  const parts = isStream ? eventsIn(body).map(jsonIn) : [body.startsWith('{') ? JSON.parse(body) : {}];
  const results = parts.flatMap(({ hook_results }) => hook_results ?? []);
  return {
    status: response.status,
    body,
    before: results.flatMap(({ before_request_hooks }) => before_request_hooks ?? []),
    after: results.flatMap(({ after_request_hooks }) => after_request_hooks ?? []),
    text: isStream ? textIn(dialect, body) : response.status < 300 ? dialect.text(parts[0]) : '',
  };
}

const second: Record<string, string> = { '@a': '@b', '@claude': '@claude-b' };

for (const [name, dialect] of Object.entries(spoken)) {
  for (const stream of [false, true]) {
    const { provider } = dialect.target as { provider: string };
    const other = second[provider] ?? '';
    const ask = async (config: object, text = 'hello', headers: Record<string, string> = lax) =>
      told(
        dialect,
        await plane.call(
          dialect.path,
          { ...dialect.ask(text), stream },
          { 'x-gw-config': JSON.stringify({ ...dialect.target, ...config }), ...headers },
        ),
      );
    const fallback = (list: number[] | null, more: object = {}) => ({
      strategy: { mode: 'fallback', ...(list && { on_status_codes: list }) },
      targets: [{ provider }, { provider: other }],
      provider: undefined,
      ...more,
    });
    /** How often each provider was asked. */
    const asked = () => [a.calls.length, b.calls.length];

    describe(`${name}, ${stream ? 'streamed' : 'whole'}`, () => {
      beforeEach(() => {
        for (const provider of [a, b]) provider.calls.length = 0;
        a.script(dialect.says('the ', 'answer'));
        b.script(dialect.says('of ', 'b'));
      });

      test('1: checks that are all switched off pass, and none is told', async () => {
        const checks = [{ id: 'default.contains', parameters: { words: ['x'] }, is_enabled: false }];
        const { status, before } = await ask({ before_request_hooks: [{ id: 'off', deny: true, checks }] });
        expect([status, before.map(({ verdict, checks: ran }) => [verdict, ran]), asked()]).toEqual([
          200,
          [[true, []]],
          [1, 0],
        ]);
      });

      test('2: checks in error pass although they deny, unless errors fail them', async () => {
        const hook = (more: object) => ({
          deny: true,
          checks: [{ id: 'default.webhook', parameters: { webhookURL: 'http://127.0.0.1:1/', timeout: 500, ...more } }],
        });
        expect([(await ask({ before_request_hooks: [hook({})] })).status, asked()]).toEqual([200, [1, 0]]);
        const closed = await ask({ before_request_hooks: [hook({ failOnError: true })] });
        expect([closed.status, closed.before[0].deny, asked()]).toEqual([446, true, [1, 0]]);
      });

      test('3: one that fails and one in error stand in their own lists of the feedback', async () => {
        const checks = [
          { id: 'default.wordCount', parameters: { minWords: 50 } },
          { id: 'default.modelWhitelist', parameters: { models: [] } },
        ];
        const { status, before } = await ask({
          before_request_hooks: [{ checks, on_fail: { feedback: { value: -3 } } }],
        });
        const { failedChecks, erroredChecks, successfulChecks } = before[0].feedback.metadata;
        expect([status, failedChecks, erroredChecks, successfulChecks, asked()]).toEqual([
          246,
          'default.wordCount',
          'default.modelWhitelist',
          '',
          [1, 0],
        ]);
      });

      test('4: in order a count sees what was redacted before it, in parallel it does not', async () => {
        const checks = [
          { id: 'default.regexReplace', parameters: { rule: 'hello', redactText: '' } },
          { id: 'default.characterCount', parameters: { minCharacters: 1 } },
        ];
        const counts: unknown[] = [];
        for (const sequential of [true, false]) {
          const { before } = await ask({ before_request_hooks: [{ sequential, checks }] }, 'hello world');
          counts.push(before[0].checks[1].data.characterCount);
        }
        expect([counts, a.calls.map((call) => dialect.sent(call.json))]).toEqual([
          [6, 11],
          [' world', ' world'],
        ]);
      });

      test('5: two guardrails without an id have labels of their own', async () => {
        const { before } = await ask({ input_guardrails: [noSecret(), noSecret()] });
        expect(new Set(before.map(({ id }) => id)).size).toBe(2);
      });

      test('6: output guardrails do not look at an error of the provider', async () => {
        a.script(openai.serverError);
        const { status, after } = await ask({ output_guardrails: [noSecret({ deny: true })] });
        expect([status, after, asked()]).toEqual([500, [], [1, 0]]);
      });

      test('7: a fallback on 246 and 446 guards the input of every target, and asks none', async () => {
        const denied = await ask(fallback([246, 446], { input_guardrails: [noSecret({ deny: true })] }), 'a secret');
        const records = await plane.settled();
        expect([denied.status, records.map(({ metrics }) => metrics.response_status_code), asked()]).toEqual([
          446,
          [446, 446],
          [0, 0],
        ]);
        const failed = await ask(fallback([246, 446], { input_guardrails: [noSecret()] }), 'a secret');
        expect([failed.status, asked()]).toEqual([246, [1, 1]]);
      });

      test('8: a retry on 246 asks again, and only the last results are told', async () => {
        a.script(dialect.says('the secret'), dialect.says('the secret'), dialect.says('all well'));
        const config = {
          retry: { attempts: 5, on_status_codes: [246] },
          output_guardrails: [noSecret({ buffer_stream: true })],
        };
        const { status, after, text } = await ask(config);
        expect([status, text, after.map(({ verdict }) => verdict), asked()]).toEqual([200, 'all well', [true], [3, 0]]);
      });

      test('10: input that is denied is plain JSON with 446', async () => {
        const { status, body, before } = await ask({ input_guardrails: [noSecret({ deny: true })] }, 'a secret');
        expect([status, body.startsWith('{'), before.length, asked()]).toEqual([446, true, 1, [0, 0]]);
      });

      test('12: a soft denial answers with 200, and a hard check beside it makes it 446', async () => {
        const soft = {
          id: 'default.contains',
          parameters: { words: ['secret'], operator: 'none' },
          soft_deny_200: true,
        };
        const hard = { id: 'default.wordCount', parameters: { minWords: 50 } };
        const hook = (checks: object[]) => ({ before_request_hooks: [{ deny: true, message: 'Not here.', checks }] });
        const answered = await ask(hook([soft]), 'a secret');
        expect([answered.status, answered.text]).toEqual([200, 'Not here.']);
        expect([(await ask(hook([soft, hard]), 'a secret')).status, asked()]).toEqual([446, [0, 0]]);
      });

      test('17: an inline guardrail is refused where inline configs are', async () => {
        const { data_plane_security_settings: before } = plane.settings;
        plane.settings = { ...plane.settings, data_plane_security_settings: { block_inline_config: true } };
        const { status } = await ask({ input_guardrails: [noSecret()] });
        plane.settings = { ...plane.settings, data_plane_security_settings: before };
        expect([status, asked()]).toEqual([400, [0, 0]]);
      });

      test('18: headers that stand for defaults inside are none from outside', async () => {
        const internal = JSON.stringify([noSecret({ deny: true })]);
        const { status } = await ask({}, 'a secret', {
          'x-gw-default-input-guardrails': internal,
          'x-gw-default-output-guardrails': internal,
        });
        expect([status, asked()]).toEqual([200, [1, 0]]);
      });

      test('21: model rules that name every model, turned round, refuse every model', async () => {
        const rules = { defaults: ['*'], metadata: {} };
        const refusing = await ask({ input_guardrails: [{ 'default.modelRules': { rules, not: true }, deny: true }] });
        const allowing = await ask({ input_guardrails: [{ 'default.modelRules': { rules }, deny: true }] });
        expect([refusing.status, allowing.status, asked()]).toEqual([446, 200, [1, 0]]);
      });

      test('22: kinds of request are told apart, and a stream is a kind of its own', async () => {
        const only = (...allowedTypes: string[]) => ({
          input_guardrails: [{ 'default.allowedRequestTypes': { allowedTypes }, deny: true }],
        });
        expect((await ask(only('imageGenerate'))).status).toBe(446);
        expect([(await ask(only(kinds[name] ?? ''))).status, asked()]).toEqual([200, [1, 0]]);
      });
    });
  }
}

const kinds: Record<string, string> = {
  chat: 'chatComplete',
  completions: 'complete',
  messages: 'messages',
  responses: 'createModelResponse',
};

/** 14 and 15: what only some dialects can say. */
describe('pictures beside the text that is redacted', () => {
  const address = 'https://a.example/x.png';
  const parts: Record<string, { content: Json[]; body(content: Json[]): object; sent(json: Json): Json[] }> = {
    chat: {
      content: [
        { type: 'image_url', image_url: { url: address } },
        { type: 'text', text: 'my sk-1' },
      ],
      body: (content) => ({ messages: [{ role: 'user', content }] }),
      sent: (sent) => sent.messages[0].content,
    },
    messages: {
      content: [
        { type: 'image', source: { type: 'url', url: address } },
        { type: 'text', text: 'my sk-1' },
      ],
      body: (content) => ({ messages: [{ role: 'user', content }] }),
      sent: (sent) => sent.messages[0].content,
    },
    responses: {
      content: [
        { type: 'input_image', image_url: address },
        { type: 'input_text', text: 'my sk-1' },
      ],
      body: (content) => ({ input: [{ role: 'user', content }] }),
      sent: (sent) => sent.input[0].content,
    },
  };
  for (const [name, { content, body, sent }] of Object.entries(parts)) {
    for (const stream of [false, true]) {
      test(`14: stay as they are (${name}, ${stream ? 'streamed' : 'whole'})`, async () => {
        const dialect = spoken[name] as Spoken;
        a.calls.length = 0;
        a.script(dialect.says('fine'));
        const config = JSON.stringify({ ...dialect.target, input_guardrails: [hideKeys()] });
        const asked = { ...dialect.ask(''), ...body(content), stream };
        await (await plane.call(dialect.path, asked, { 'x-gw-config': config })).text();
        expect(sent(a.calls[0]?.json)).toEqual([content[0], { ...content[1], text: 'my [KEY]' }]);
      });
    }
  }
});

describe('answers that only call a tool', () => {
  const call = { name: 'mail', arguments: '{"to":"sk-abc"}' };
  const answers: Record<string, { answer: object; arguments(body: Json): unknown }> = {
    chat: {
      answer: {
        ...openai.completion(''),
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: call }] },
            finish_reason: 'tool_calls',
          },
        ],
      },
      arguments: (body) => JSON.parse(body.choices[0].message.tool_calls[0].function.arguments),
    },
    messages: {
      answer: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        content: [{ type: 'tool_use', id: 'c1', name: 'mail', input: { to: 'sk-abc' } }],
        stop_reason: 'tool_use',
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      },
      arguments: (body) => body.content[0].input,
    },
    responses: {
      answer: {
        id: 'resp_1',
        object: 'response',
        created_at: 1,
        status: 'completed',
        model: 'gpt-4o-mini',
        output: [{ type: 'function_call', id: 'fc_1', call_id: 'c1', status: 'completed', ...call }],
        usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      },
      arguments: (body) => JSON.parse(body.output[0].arguments),
    },
  };
  for (const [name, { answer, arguments: argumentsOf }] of Object.entries(answers)) {
    test(`15: are not empty, and their arguments are looked at and redacted (${name})`, async () => {
      const dialect = spoken[name] as Spoken;
      a.script(json(200, answer));
      const judge = async (checks: object) => {
        const config = JSON.stringify({ ...dialect.target, output_guardrails: [{ ...checks, deny: true }] });
        return plane.call(dialect.path, dialect.ask('hello'), { 'x-gw-config': config });
      };
      const passed = await judge({ 'default.notNull': {}, 'default.contains': { words: ['sk-'] }, ...hideKeys() });
      expect([passed.status, argumentsOf(await passed.json())]).toEqual([200, { to: '[KEY]' }]);
      expect((await judge({ 'default.contains': { words: ['sk-'], operator: 'none' } })).status).toBe(446);
    });
  }

  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const pieces = ['{"to":"s', 'k-a', 'bc"}'];
  const item = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'mail', status: 'completed' };
  const streams: Record<string, { events: string[]; part(json: Json): string }> = {
    chat: {
      events: [
        chunk({
          role: 'assistant',
          content: null,
          tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'mail', arguments: '' } }],
        }),
        ...pieces.map((part) => chunk({ tool_calls: [{ index: 0, function: { arguments: part } }] })),
        chunk({}, 'tool_calls'),
        'data: [DONE]\n\n',
      ],
      part: (told) => told.choices?.[0]?.delta?.tool_calls?.[0]?.function?.arguments ?? '',
    },
    messages: {
      events: [
        anthropic.start,
        anthropic.blockStart(0, { type: 'tool_use', id: 'c1', name: 'mail', input: {} }),
        ...pieces.map((partial_json) => anthropic.delta(0, { type: 'input_json_delta', partial_json })),
        anthropic.blockStop(0),
        ...anthropic.end,
      ],
      part: (told) => told.delta?.partial_json ?? '',
    },
    responses: {
      events: [
        event('response.created', {
          response: { id: 'resp_1', object: 'response', status: 'in_progress', output: [] },
        }),
        event('response.output_item.added', { output_index: 0, item: { ...item, arguments: '' } }),
        ...pieces.map((delta) =>
          event('response.function_call_arguments.delta', { item_id: 'fc_1', output_index: 0, delta }),
        ),
        event('response.function_call_arguments.done', {
          item_id: 'fc_1',
          output_index: 0,
          arguments: pieces.join(''),
        }),
        event('response.output_item.done', { output_index: 0, item: { ...item, arguments: pieces.join('') } }),
        event('response.completed', {
          response: {
            id: 'resp_1',
            object: 'response',
            status: 'completed',
            output: [{ ...item, arguments: pieces.join('') }],
            usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
          },
        }),
      ],
      part: (told) => (told.type === 'response.function_call_arguments.delta' ? told.delta : ''),
    },
  };
  for (const [name, { events, part }] of Object.entries(streams)) {
    test(`15: are not empty, and their arguments are looked at and redacted (${name}, streamed)`, async () => {
      const dialect = spoken[name] as Spoken;
      a.script(streamOf(events));
      const judge = (guardrail: object) =>
        plane.call(
          dialect.path,
          { ...dialect.ask('hello'), stream: true },
          { 'x-gw-config': JSON.stringify({ ...dialect.target, output_guardrails: [guardrail] }), ...lax },
        );
      const watched = await told(
        dialect,
        await judge({ 'default.notNull': {}, 'default.contains': { words: ['sk-'] } }),
      );
      expect(watched.after[0].checks.map(({ verdict }: Json) => verdict)).toEqual([true, true]);
      for (const manner of ['buffer_stream', 'stream_window']) {
        const redacted = await (await judge(hideKeys({ [manner]: true }))).text();
        const written = eventsIn(redacted).map(jsonIn).map(part).join('');
        expect([manner, JSON.parse(written)]).toEqual([manner, { to: '[KEY]' }]);
        const results = eventsIn(redacted).filter(({ data }) => !data.includes('hook_results'));
        expect(JSON.stringify(results)).not.toContain('sk-abc');
        const no = { 'default.contains': { words: ['sk-'], operator: 'none' }, deny: true, [manner]: true };
        const stopped = await judge(no);
        expect([manner, stopped.status]).toEqual([manner, manner === 'buffer_stream' ? 446 : 200]);
        const delivered = eventsIn(await stopped.text())
          .map(jsonIn)
          .map(part)
          .join('');
        expect(delivered).not.toContain('sk-');
      }
    });
  }
});
