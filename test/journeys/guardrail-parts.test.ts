/** Guardrails and parts of a message that are no text: pictures beside it, and calls of tools. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Plane } from '../gateway-deps.ts';
import { type GuardedPlane, startGuardedPlane } from '../guarded-plane.ts';
import { eventsIn, hideKeys, jsonIn, type Spoken, spoken, told } from '../guardrail-dialects.ts';
import type { Json } from '../harness.ts';
import * as anthropic from '../providers/anthropic.ts';
import * as openai from '../providers/openai.ts';
import { json, type SimulatedProvider, stream as streamOf } from '../providers/simulated.ts';

let guarded: GuardedPlane;
let plane: Plane;
let a: SimulatedProvider;

beforeAll(async () => {
  guarded = await startGuardedPlane();
  ({ plane, a } = guarded);
});
afterAll(() => guarded.stop());
afterEach(async () => {
  expect(plane.faults).toEqual([]);
  await plane.settled();
});

const lax = { 'x-gw-strict-open-ai-compliance': 'false' };

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
