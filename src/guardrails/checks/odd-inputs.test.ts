/** Every check on bodies that no client should send: it answers with a verdict or an error of its own words, never by throwing. */
import { describe, expect, test } from 'bun:test';
import { checks, findCheck } from '../catalogue.ts';
import { compileHook } from '../compile.ts';
import type { HookFacts } from '../context.ts';
import { runHooks } from '../engine.ts';
import { parseSaved } from '../hook.ts';
import { CallFault, type CheckIo } from '../io.ts';

type Json = Record<string, unknown>;

/** No service can be reached. */
const io: CheckIo = {
  call: async () => {
    throw new CallFault('Connection Error', 'the service cannot be reached');
  },
  resolves: async () => false,
  moderate: async () => {
    throw new CallFault('Connection Error', 'the service cannot be reached');
  },
  cache: { get: () => undefined, put: () => undefined },
  now: () => 1_760_000_000_000,
  newId: () => 'id-1',
};

const long = 200_000;
const contents: [string, unknown][] = [
  ['null', null],
  ['a number', 7],
  ['a boolean', true],
  ['an object', { text: 'x' }],
  ['nothing', undefined],
  ['an empty text', ''],
  ['blanks', ' \n\t '],
  ['an empty list', []],
  [
    'odd parts',
    [null, 7, 'text', [], {}, { type: 'text' }, { type: 'text', text: 7 }, { type: 'tool_result', content: 7 }],
  ],
  [
    'parts of parts',
    [{ type: 'tool_result', content: [{ type: 'tool_result', content: [{ type: 'text', text: 'x' }] }] }],
  ],
  ['half a character', 'a\ud83d'],
  ['control characters', 'a\0b\u0007\u202e\u200b'],
  ['many alphabets', 'Grüße, мир, 世界, שלום, नमस्ते 👩‍👩‍👧'],
  ['one letter often', 'a'.repeat(long)],
  ['quotes and backslashes', '"\\'.repeat(long / 2)],
  ['braces', '{'.repeat(long / 2) + '}'.repeat(long / 2)],
  ['fences', '```'.repeat(long / 3)],
  ['addresses', 'http://a.b/@1.2.3.4 '.repeat(long / 20)],
];

const requestOf = (type: string, content: unknown): Json => {
  if (type === 'complete') return { model: 'm', prompt: content };
  if (type === 'createModelResponse')
    return { model: 'm', input: Array.isArray(content) ? [{ role: 'user', content }] : content };
  return { model: 'm', messages: [{ role: 'user', content }] };
};

const answerOf = (type: string, content: unknown): Json => {
  if (type === 'complete') return { choices: [{ index: 0, text: content }] };
  if (type === 'messages') return { content: Array.isArray(content) ? content : [{ type: 'text', text: content }] };
  if (type === 'createModelResponse') return { output: [{ type: 'message', content }, null, 7] };
  return { choices: [{ index: 0, message: { role: 'assistant', content, tool_calls: content } }, null] };
};

const facts = (event: HookFacts['event'], requestType: string, content: unknown): HookFacts => ({
  event,
  requestType,
  request: requestOf(requestType, content),
  response: event === 'afterRequestHook' ? { json: answerOf(requestType, content), status: 200 } : null,
  isStream: false,
  provider: 'openai',
  metadata: {},
  header: () => null,
  traceId: 'trace',
});

const setup = {
  find: findCheck,
  credentialsOf: () => ({
    apiKey: 'x.eyJvcGFxdWUiOnsiYXBleC11cmwiOiJhLmIifX0.y',
    domain: 'd.example',
    application: 'a',
  }),
  faultOfUrl: () => null,
};

for (const { id, example, events } of checks) {
  describe(id, () => {
    const parsed = parseSaved([{ id, parameters: example }], { deny: true });
    const compiled = parsed.ok ? compileHook(parsed.value, id, setup) : parsed;
    if (!compiled.ok) throw new Error(`${id}: ${JSON.stringify(compiled.faults)}`);
    test('answers on every odd body, in every dialect', async () => {
      const thrown: string[] = [];
      for (const event of events) {
        for (const type of ['chatComplete', 'messages', 'createModelResponse', 'complete']) {
          for (const [name, content] of contents) {
            const { results } = await runHooks([compiled.value], facts(event, type, content), io);
            const [check] = results[0]?.checks ?? [];
            if (typeof check?.verdict !== 'boolean' || check.error?.name === 'Check error') {
              thrown.push(`${event} ${type} ${name}: ${check?.error?.message}`);
            }
          }
        }
      }
      expect(thrown).toEqual([]);
    });
  });
}
