/** Converse behind the chat front: what each model is asked, and that nothing of a conversation is lost on the way. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { spoken } from '../../../test/families.ts';
import type { Json } from '../../../test/harness.ts';
import { faultOfConverse } from '../../../test/providers/bedrock-rules.ts';
import { RequestFault } from '../faults.ts';
import { converse } from './converse.ts';

const claude4 = 'us.anthropic.claude-sonnet-4-20250514-v1:0';
const claude46 = 'us.anthropic.claude-sonnet-4-6-v1:0';
const nova = 'amazon.nova-pro-v1:0';
const nova2 = 'us.amazon.nova-2-lite-v1:0';
const llama = 'us.meta.llama3-3-70b-instruct-v1:0';
const mistral = 'mistral.mistral-large-2407-v1:0';
const oss = 'openai.gpt-oss-120b-1:0';

/** What a model is asked; always something that the service takes. */
function asked(model: string, body: Json, fields: Json = {}): Json {
  const request = spoken(converse, { model, fields, framing: 'aws' }).asked({
    messages: [{ role: 'user', content: 'Hi' }],
    ...body,
  });
  expect(faultOfConverse(model, request)).toBeNull();
  return request;
}

const faultOf = (model: string, body: Json): string | null => {
  try {
    asked(model, body);
    return null;
  } catch (fault) {
    if (fault instanceof RequestFault) return fault.field;
    throw fault;
  }
};

describe('one call at a time', () => {
  const functions = [{ name: 'weather', parameters: { type: 'object', properties: {} } }];

  test('is a wish where the older form of functions can tell no more', () => {
    for (const model of [nova, llama, mistral, oss]) {
      expect(asked(model, { functions, function_call: 'auto' }).toolConfig).toEqual({
        tools: [{ toolSpec: { name: 'weather', inputSchema: { json: { type: 'object', properties: {} } } } }],
        toolChoice: { auto: {} },
      });
    }
    expect(asked(claude46, { functions }).additionalModelRequestFields.tool_choice).toEqual({
      type: 'auto',
      disable_parallel_tool_use: true,
    });
  });

  test('is refused, where it was asked for, by models that cannot be kept to it', () => {
    const tools = functions.map((spec) => ({ type: 'function', function: spec }));
    expect(faultOf(nova, { tools, parallel_tool_calls: false })).toBe('parallel_tool_calls');
    expect(faultOf(nova, { functions, parallel_tool_calls: false })).toBe('parallel_tool_calls');
    expect(faultOf(claude46, { tools, parallel_tool_calls: false })).toBeNull();
  });

  test('what the model calls comes back as a function of the older form', () => {
    const content = [
      { toolUse: { toolUseId: 't1', name: 'weather', input: { city: 'Rome' } } },
      { toolUse: { toolUseId: 't2', name: 'weather', input: { city: 'Oslo' } } },
    ];
    const answer = spoken(converse, { model: nova, body: { functions } }).answered({
      output: { message: { role: 'assistant', content } },
      stopReason: 'tool_use',
    });
    expect(answer.choices).toMatchObject([
      {
        message: { function_call: { name: 'weather', arguments: '{"city":"Rome"}' } },
        finish_reason: 'function_call',
      },
    ]);
  });
});

describe('reasoning is asked for', () => {
  test('of Claude as a share of what it may write', () => {
    const budget = (effort: string, limit?: number) =>
      asked(claude4, { reasoning_effort: effort, ...(limit && { max_tokens: limit }) });
    expect(budget('minimal', 20_000).additionalModelRequestFields.thinking.budget_tokens).toBe(2_000);
    expect(budget('low', 20_000).additionalModelRequestFields.thinking.budget_tokens).toBe(4_000);
    expect(budget('medium', 20_000).additionalModelRequestFields.thinking.budget_tokens).toBe(10_000);
    expect(budget('low', 2_000).additionalModelRequestFields.thinking.budget_tokens).toBe(1_024);
    const unlimited = budget('high');
    expect(unlimited.inferenceConfig.maxTokens).toBeGreaterThan(
      unlimited.additionalModelRequestFields.thinking.budget_tokens,
    );
  });

  test('of Claude not at all where there is no room, or nothing to remember its thoughts by', () => {
    expect(asked(claude4, { reasoning_effort: 'high', max_tokens: 500 }).additionalModelRequestFields).toBeUndefined();
    const called = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'c', content: 'done' },
    ];
    expect(asked(claude4, { reasoning_effort: 'high', messages: called }).additionalModelRequestFields).toBeUndefined();
  });

  test('of newer Claude adaptively, with its effort', () => {
    expect(asked(claude46, { reasoning_effort: 'medium' }).additionalModelRequestFields).toEqual({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'medium' },
    });
  });

  test('of Claude by a budget that the client names', () => {
    const request = asked(claude4, { thinking: { type: 'enabled', budget_tokens: 2_000 }, max_tokens: 4_000 });
    expect(request.additionalModelRequestFields).toEqual({ thinking: { type: 'enabled', budget_tokens: 2_000 } });
  });

  test('of the second Nova by an effort, and of gpt-oss', () => {
    expect(asked(nova2, { reasoning_effort: 'low' }).additionalModelRequestFields).toEqual({
      reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' },
    });
    expect(asked(nova2, { reasoning_effort: 'none' }).additionalModelRequestFields).toEqual({
      reasoningConfig: { type: 'disabled' },
    });
    expect(asked(oss, { reasoning_effort: 'high' }).additionalModelRequestFields).toEqual({ reasoning_effort: 'high' });
  });

  test('of no model that cannot: the field is named', () => {
    expect(faultOf(llama, { reasoning_effort: 'high' })).toBe('reasoning_effort');
    expect(faultOf(llama, { reasoning_effort: 'none' })).toBeNull();
  });

  test('of DeepSeek by nobody: it always thinks', () => {
    expect(asked('us.deepseek.r1-v1:0', { reasoning_effort: 'high' }).additionalModelRequestFields).toBeUndefined();
  });
});

describe('sampling', () => {
  test('keeps zero, and gives Claude one of temperature and top_p', () => {
    expect(asked(claude4, { temperature: 0, top_p: 0, max_tokens: 1 }).inferenceConfig).toEqual({
      maxTokens: 1,
      temperature: 0,
    });
    expect(asked(nova, { temperature: 0, top_p: 0 }).inferenceConfig).toEqual({ temperature: 0, topP: 0 });
    expect(asked(nova, { temperature: 1.8 }).inferenceConfig).toEqual({ temperature: 1 });
  });

  test('puts top_k where each vendor looks for it', () => {
    expect(asked(claude4, { top_k: 5 }).additionalModelRequestFields).toEqual({ top_k: 5 });
    expect(asked(nova, { top_k: 5 }).additionalModelRequestFields).toEqual({ inferenceConfig: { topK: 5 } });
    expect(asked('cohere.command-r-v1:0', { top_k: 5 }).additionalModelRequestFields).toEqual({ k: 5 });
  });

  test('takes one stop or several, and drops what has no counterpart', () => {
    expect(asked(nova, { stop: ['a', 'b'], seed: 1, frequency_penalty: 1, logit_bias: {}, logprobs: true })).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
      inferenceConfig: { stopSequences: ['a', 'b'] },
    });
    expect(faultOf(nova, { n: 2 })).toBe('n');
  });
});

describe('a given form', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const response_format = { type: 'json_schema', json_schema: { name: 'x', schema } };
  const tools = [{ type: 'function', function: { name: 'f' } }];

  test('leaves the choice to the model where it cannot be forced, and tells it what to do', () => {
    const request = asked(llama, { response_format });
    expect(request.toolConfig.toolChoice).toEqual({ auto: {} });
    expect(request.system[0].text).toContain('gw_answer_in_given_form');
    expect(asked(mistral, { response_format }).toolConfig.toolChoice).toEqual({ any: {} });
  });

  test('lets the model use the client’s tools first', () => {
    const request = asked(nova, { response_format, tools });
    expect(request.toolConfig.tools).toHaveLength(2);
    expect(request.toolConfig.toolChoice).toEqual({ any: {} });
  });

  test('does not force Claude while it thinks', () => {
    const request = asked(claude4, { response_format, reasoning_effort: 'low' });
    expect(request.toolConfig.toolChoice).toEqual({ auto: {} });
    expect(request.additionalModelRequestFields.thinking.type).toBe('enabled');
  });

  test('of any JSON is asked for in words', () => {
    expect(asked(nova, { response_format: { type: 'json_object' } }).system).toEqual([
      { text: expect.stringContaining('JSON') },
    ]);
  });

  test('is read back without what was said around it', () => {
    const toolUse = { toolUseId: 't', name: 'gw_answer_in_given_form', input: { a: 'b' } };
    const answer = {
      output: { message: { role: 'assistant', content: [{ text: 'Here it is:' }, { toolUse }] } },
      stopReason: 'tool_use',
      usage: {},
    };
    const [choice] = spoken(converse, { model: llama }).answered(answer).choices;
    expect(choice).toMatchObject({ finish_reason: 'stop', message: { content: '{"a":"b"}' } });
  });
});

describe('cache points', () => {
  const marked = (text: string, ttl?: string) => ({
    type: 'text',
    text,
    cache_control: { type: 'ephemeral', ...(ttl && { ttl }) },
  });

  test('are four at most: the last ones count', () => {
    const request = asked(claude4, {
      messages: [{ role: 'user', content: ['a', 'b', 'c', 'd', 'e'].map((text) => marked(text)) }],
    });
    const point = { cachePoint: { type: 'default' } };
    expect(request.messages[0].content).toEqual([
      { text: 'a' },
      ...['b', 'c', 'd', 'e'].flatMap((text) => [{ text }, point]),
    ]);
  });

  test('that last longer stand before the others', () => {
    const request = asked(claude4, { messages: [{ role: 'user', content: [marked('a'), marked('b', '1h')] }] });
    expect(request.messages[0].content.filter((block: Json) => block.cachePoint)).toEqual([
      { cachePoint: { type: 'default' } },
      { cachePoint: { type: 'default', ttl: '5m' } },
    ]);
  });

  test('stand behind tools for Claude, not for Nova, and nowhere for models without a cache', () => {
    const tools = [{ type: 'function', function: { name: 'f' }, cache_control: { type: 'ephemeral', ttl: '1h' } }];
    const messages = [{ role: 'user', content: [marked('a', '1h')] }];
    expect(asked(claude4, { tools, messages }).toolConfig.tools[1]).toEqual({
      cachePoint: { type: 'default', ttl: '1h' },
    });
    const request = asked(nova, { tools, messages });
    expect(request.toolConfig.tools).toHaveLength(1);
    expect(request.messages[0].content[1]).toEqual({ cachePoint: { type: 'default' } });
    expect(asked(llama, { tools, messages }).messages[0].content).toEqual([{ text: 'a' }]);
  });
});

describe('turns', () => {
  test('are merged where one speaker speaks twice, and blank ones filled', () => {
    const messages = [
      { role: 'user', content: 'a' },
      {
        role: 'user',
        content: [
          { type: 'text', text: ' ' },
          { type: 'text', text: 'b' },
        ],
      },
      { role: 'assistant', content: '' },
      { role: 'user', content: 'c' },
    ];
    expect(asked(nova, { messages }).messages).toEqual([
      { role: 'user', content: [{ text: 'a' }, { text: 'b' }] },
      { role: 'assistant', content: [{ text: '.' }] },
      { role: 'user', content: [{ text: 'c' }] },
    ]);
  });

  test('of tools that failed say so as the model understands it', () => {
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'c', content: 'broken', is_error: true },
    ];
    const result = (model: string) => asked(model, { messages }).messages[2].content[0].toolResult;
    expect(result(claude4)).toEqual({ toolUseId: 'c', content: [{ text: 'broken' }], status: 'error' });
    expect(result(llama)).toEqual({ toolUseId: 'c', content: [{ text: 'Error:' }, { text: 'broken' }] });
  });

  test('without a document’s words get some, and thoughts without a signature are left out', () => {
    const file = { filename: 'notes.md', file_data: 'data:text/markdown;base64,YQ==' };
    const messages = [
      { role: 'user', content: [{ type: 'file', file }] },
      { role: 'assistant', content: 'b', reasoning_content: 'hm' },
      { role: 'user', content: 'c' },
    ];
    expect(asked(claude4, { messages }).messages.slice(0, 2)).toEqual([
      {
        role: 'user',
        content: [{ text: '.' }, { document: { format: 'md', name: 'notes', source: { bytes: 'YQ==' } } }],
      },
      { role: 'assistant', content: [{ text: 'b' }] },
    ]);
  });

  test('go to the model behind a profile as its foundation model is', () => {
    const profile = 'arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc123';
    const request = spoken(converse, { model: profile, fields: { foundation_model: claude4 } }).asked({
      messages: [{ role: 'user', content: 'Hi' }],
      reasoning_effort: 'low',
    });
    expect(request.additionalModelRequestFields.thinking.type).toBe('enabled');
  });
});

describe('a conversation', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((value) => value.trim() !== '');
  const id = fc.stringMatching(/^[a-zA-Z0-9_-]{1,20}$/);
  const call = fc.record({
    id,
    name: fc.stringMatching(/^[a-z]{1,10}$/),
    input: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.oneof(text, fc.integer(), fc.boolean())),
    result: text,
  });
  const round = fc.record({
    said: text,
    answered: fc.option(text),
    calls: fc.uniqueArray(call, { maxLength: 3, selector: (entry) => entry.id }),
  });

  test('keeps its words, calls, arguments, ids, results and their order', () => {
    fc.assert(
      fc.property(fc.array(round, { minLength: 1, maxLength: 4 }), text, (rounds, last) => {
        const messages = rounds.flatMap(({ said, answered, calls }) => [
          { role: 'user', content: said },
          {
            role: 'assistant',
            content: answered ?? (calls.length > 0 ? null : 'nothing'),
            ...(calls.length > 0 && {
              tool_calls: calls.map((each) => ({
                id: each.id,
                type: 'function',
                function: { name: each.name, arguments: JSON.stringify(each.input) },
              })),
            }),
          },
          ...calls.map((each) => ({ role: 'tool', tool_call_id: each.id, content: each.result })),
        ]);
        const request = asked(claude4, { messages: [...messages, { role: 'user', content: last }] });
        expect(flat(request.messages)).toEqual([
          ...rounds.flatMap(({ said, answered, calls }) => [
            ['user', said],
            ...(answered !== null || calls.length === 0 ? [['assistant', answered ?? 'nothing']] : []),
            ...calls.map((each) => ['call', each.id, each.name, each.input]),
            ...calls.map((each) => ['result', each.id, each.result]),
          ]),
          ['user', last],
        ]);
      }),
      { numRuns: 200 },
    );
  });

  const flat = (messages: Json[]): Json[] =>
    messages.flatMap(({ role, content }) =>
      content.map((block: Json) => {
        if (block.toolUse) return ['call', block.toolUse.toolUseId, block.toolUse.name, block.toolUse.input];
        if (block.toolResult) return ['result', block.toolResult.toolUseId, block.toolResult.content[0].text];
        return [role, block.text];
      }),
    );
});
