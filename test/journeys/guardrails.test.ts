/** Guardrails on the way of a request: refused, reported, redacted and retried, in every dialect, whole and streamed. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Plane } from '../gateway-deps.ts';
import { type GuardedPlane, startGuardedPlane } from '../guarded-plane.ts';
import { eventsIn, hideKeys, jsonIn, noSecret, type Spoken, spoken, textIn } from '../guardrail-dialects.ts';
import type { Json } from '../harness.ts';
import * as openai from '../providers/openai.ts';
import type { SimulatedProvider } from '../providers/simulated.ts';

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
const lax = { 'x-gw-strict-open-ai-compliance': 'false' };

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

for (const [name, dialect] of Object.entries(spoken)) {
  describe(name, () => {
    beforeEach(() => a.script(dialect.says('the ', 'sec', 'ret is sk-ab', 'c1 here')));

    test('input that fails and denies is 446, and the provider is not asked', async () => {
      for (const streamed of [false, true]) {
        const response = await ask(dialect, { input_guardrails: [noSecret({ deny: true, id: 'mine' })] }, 'a secret', {
          stream: streamed,
        });
        const body: Json = await response.json();
        expect([response.status, body.error.type, body.hook_results.before_request_hooks[0].id]).toEqual([
          446,
          'hooks_failed',
          'mine',
        ]);
        expect(body.hook_results).toMatchObject({
          after_request_hooks: [],
          before_request_hooks: [
            { verdict: false, deny: true, checks: [{ id: 'default.contains', verdict: false, fail_on_error: false }] },
          ],
        });
      }
      expect(a.calls).toEqual([]);
    });

    test('input that fails without denying is 246, whole and streamed', async () => {
      const config = { input_guardrails: [noSecret()] };
      const response = await ask(dialect, config, 'a secret');
      const body: Json = await response.json();
      expect([response.status, dialect.text(body), body.hook_results.before_request_hooks[0].verdict]).toEqual([
        246,
        'the secret is sk-abc1 here',
        false,
      ]);
      const streamed = await ask(dialect, config, 'a secret', { stream: true });
      expect([streamed.status, textIn(dialect, await streamed.text())]).toEqual([246, 'the secret is sk-abc1 here']);
    });

    test('input is redacted on its way to the provider', async () => {
      const response = await ask(dialect, { input_guardrails: [hideKeys()] }, 'my sk-1 and sk-2');
      const body: Json = await response.json();
      expect([response.status, body.hook_results.before_request_hooks[0].transformed]).toEqual([200, true]);
      expect(dialect.sent(sentToA())).toBe('my [KEY] and [KEY]');
    });

    test('output that fails is 246, and 446 where it denies; the answer is paid for', async () => {
      const response = await ask(dialect, { output_guardrails: [noSecret()] });
      const body: Json = await response.json();
      expect([response.status, body.hook_results.after_request_hooks[0].verdict]).toEqual([246, false]);
      await plane.settled();
      const denied = await ask(dialect, { output_guardrails: [noSecret({ deny: true })] });
      const refusal = await denied.text();
      expect([denied.status, refusal.includes('sk-abc1')]).toEqual([446, false]);
      const [record] = await plane.settled();
      expect(record?.metrics).toMatchObject({ response_status_code: 446, is_success: false });
      expect(record?.metrics.total_units).toBeGreaterThan(0);
    });

    test('output is redacted', async () => {
      const body: Json = await (await ask(dialect, { output_guardrails: [hideKeys()] })).json();
      expect(dialect.text(body)).toBe('the secret is [KEY] here');
    });

    test('a soft denial is an answer with 200, whole and streamed', async () => {
      const config = { input_guardrails: [noSecret({ deny: true, soft_deny_200: true, message: 'Not here.' })] };
      const response = await ask(dialect, config, 'a secret');
      const body: Json = await response.json();
      expect([response.status, dialect.text(body), body.hook_results.before_request_hooks[0].deny]).toEqual([
        200,
        'Not here.',
        true,
      ]);
      const streamed = await ask(dialect, config, 'a secret', { stream: true });
      expect([streamed.status, textIn(dialect, await streamed.text())]).toEqual([200, 'Not here.']);
      expect(a.calls).toEqual([]);
    });

    test('a stream tells results only to clients that are not strict: before the first event and behind the last', async () => {
      const config = {
        input_guardrails: [noSecret({ id: 'in' })],
        output_guardrails: [noSecret({ id: 'out', deny: true })],
      };
      const strict = await (await ask(dialect, config, 'hello', { stream: true })).text();
      expect(strict).not.toContain('hook_results');
      await plane.settled();
      const told = eventsIn(await (await ask(dialect, config, 'hello', { stream: true }, lax)).text());
      const first = jsonIn(told[0] ?? { data: '' });
      const last = jsonIn(told.at(-1) ?? { data: '' });
      expect(first.hook_results.before_request_hooks[0].id).toBe('in');
      expect(last.hook_results.after_request_hooks[0]).toMatchObject({ id: 'out', verdict: false });
      expect(told.at(-1)?.event ?? null).toBe(name === 'messages' || name === 'responses' ? 'hook_results' : null);
      if (name === 'responses') expect(last.type).toBe('hook_results');
      if (name === 'chat') expect(told.at(-2)?.data).toBe('[DONE]');
      const [record] = await plane.settled();
      const logged = JSON.parse(Buffer.from(record?.bodies.hookResults?.body ?? []).toString());
      expect([logged.before_request_hooks.length, logged.after_request_hooks[0].verdict]).toEqual([1, false]);
    });

    test('a buffered stream is refused before a byte of it is sent, or redacted', async () => {
      const denied = await ask(
        dialect,
        { output_guardrails: [noSecret({ deny: true, buffer_stream: true })] },
        'hello',
        { stream: true },
      );
      expect([denied.status, (await denied.text()).includes('hook_results')]).toEqual([446, true]);
      const redacted = await ask(dialect, { output_guardrails: [hideKeys({ buffer_stream: true })] }, 'hello', {
        stream: true,
      });
      const text = await redacted.text();
      expect([redacted.status, textIn(dialect, text), text.includes('sk-ab')]).toEqual([
        200,
        'the secret is [KEY] here',
        false,
      ]);
      const passed = await ask(
        dialect,
        { output_guardrails: [{ 'default.notNull': {}, buffer_stream: true, deny: true }] },
        'hello',
        { stream: true },
      );
      expect(textIn(dialect, await passed.text())).toBe('the secret is sk-abc1 here');
    });

    test('a window redacts what is split over events and lets the rest pass', async () => {
      const response = await ask(dialect, { output_guardrails: [hideKeys({ stream_window: true })] }, 'hello', {
        stream: true,
      });
      const text = await response.text();
      expect([textIn(dialect, text), text.includes('sk-')]).toEqual(['the secret is [KEY] here', false]);
    });

    test('a window stops the stream before what a check refuses, as the dialect ends a refused answer', async () => {
      const response = await ask(
        dialect,
        { output_guardrails: [noSecret({ stream_window: true, deny: true })] },
        'hello',
        { stream: true },
      );
      const text = await response.text();
      expect(textIn(dialect, text)).toBe('the ');
      expect(text).toMatch(/"finish_reason":"content_filter"|"stop_reason":"refusal"|"reason":"content_filter"/);
      expect(text).not.toContain('sec');
      const [record] = await plane.settled();
      expect(record?.metrics.response_status_code).toBe(446);
    });

    test('personal data that was replaced for the provider is put back for the client', async () => {
      const config = {
        input_guardrails: [{ 'gw.pii': { categories: ['EMAIL_ADDRESS'], redact: true, restore: true } }],
      };
      a.script(dialect.says('Mail to {{EMAIL', '_ADDRESS_1}', '} now'));
      const body: Json = await (await ask(dialect, config, 'I am ann@example.com')).json();
      expect(dialect.text(body)).toBe('Mail to ann@example.com now');
      expect(dialect.sent(sentToA())).toBe('I am {{EMAIL_ADDRESS_1}}');
      const streamed = await ask(dialect, config, 'I am ann@example.com', { stream: true });
      expect(textIn(dialect, await streamed.text())).toBe('Mail to ann@example.com now');
    });

    test('async guardrails change nothing and stand in the log', async () => {
      const config = {
        input_guardrails: [noSecret({ async: true, deny: true, id: 'later' })],
        output_guardrails: [noSecret({ async: true })],
      };
      const response = await ask(dialect, config, 'a secret');
      expect([response.status, (await response.text()).includes('hook_results')]).toEqual([200, false]);
      const [record] = await plane.settled();
      const logged = JSON.parse(Buffer.from(record?.bodies.hookResults?.body ?? []).toString());
      expect(logged).toMatchObject({
        before_request_hooks: [{ id: 'later', verdict: false, async: true, deny: false }],
        after_request_hooks: [{ verdict: false }],
      });
    });
  });
}
