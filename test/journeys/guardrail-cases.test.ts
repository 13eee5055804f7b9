/** The edge cases of guardrails that do not depend on a route, each in every dialect, whole and streamed, with what the provider saw of them. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Plane } from '../gateway-deps.ts';
import { type GuardedPlane, startGuardedPlane } from '../guarded-plane.ts';
import { noSecret, spoken, told } from '../guardrail-dialects.ts';
import * as openai from '../providers/openai.ts';
import type { SimulatedProvider } from '../providers/simulated.ts';

let guarded: GuardedPlane;
let plane: Plane;
let a: SimulatedProvider;
let b: SimulatedProvider;

beforeAll(async () => {
  guarded = await startGuardedPlane();
  ({ plane, a, b } = guarded);
});
afterAll(() => guarded.stop());
afterEach(async () => {
  expect(plane.faults).toEqual([]);
  await plane.settled();
});

const lax = { 'x-gw-strict-open-ai-compliance': 'false' };

const kinds: Record<string, string> = {
  chat: 'chatComplete',
  completions: 'complete',
  messages: 'messages',
  responses: 'createModelResponse',
};

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
