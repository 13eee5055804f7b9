/** What chat over Bedrock can do beyond words: tools, answers in a given form, reasoning, and what belongs to Bedrock alone. */
import { describe, expect, test } from 'bun:test';
import { bedrockWorld, nova, question, tools } from '../bedrock-world.ts';
import type { Json } from '../harness.ts';
import { says } from '../providers/bedrock.ts';

const { provider, client, received, both } = await bedrockWorld();

describe('tools', () => {
  const calls = [
    { toolUse: { toolUseId: 'tooluse_1', name: 'weather', input: { city: 'Rome' } } },
    { toolUse: { toolUseId: 'tooluse_2', name: 'time', input: {} } },
  ];

  test('are called, several at once, with and without arguments', async () => {
    const { whole, streamed } = await both(
      { content: [{ text: 'Let me see.' }, ...calls], stopReason: 'tool_use' },
      { ...question, tools, tool_choice: 'required' },
    );
    const expected = [
      { id: 'tooluse_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
      { id: 'tooluse_2', type: 'function', function: { name: 'time', arguments: '{}' } },
    ];
    for (const { choices } of [whole, streamed]) {
      expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'Let me see.' } });
      expect(choices[0].message.tool_calls).toMatchObject(expected);
    }
    expect(received().json.toolConfig).toEqual({
      tools: [
        {
          toolSpec: {
            name: 'weather',
            description: 'The weather in a city',
            inputSchema: { json: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
          },
        },
        {
          toolSpec: {
            name: 'time',
            description: 'The time',
            inputSchema: { json: { type: 'object', properties: {} } },
          },
        },
      ],
      toolChoice: { any: {} },
    });
  });

  test('give their results in one turn of the user’s', async () => {
    await client.chat.completions.create({
      ...question,
      tools,
      messages: [
        ...question.messages,
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call|1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
            { id: 'call_2', type: 'function', function: { name: 'time', arguments: '' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call|1', content: 'Sunny' },
        { role: 'tool', tool_call_id: 'call_2', content: '' },
        { role: 'user', content: 'And now?' },
      ],
    });
    const id = received().json.messages[1].content[0].toolUse.toolUseId;
    expect(id).toMatch(/^call_1_[0-9a-f]{16}$/);
    expect(received().json.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { toolUse: { toolUseId: id, name: 'weather', input: { city: 'Rome' } } },
          { toolUse: { toolUseId: 'call_2', name: 'time', input: {} } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: id, content: [{ text: 'Sunny' }] } },
          { toolResult: { toolUseId: 'call_2', content: [{ text: '.' }] } },
          { text: 'And now?' },
        ],
      },
    ]);
  });

  test('that only the history names are stood in for', async () => {
    await client.chat.completions.create({
      ...question,
      messages: [
        ...question.messages,
        {
          role: 'assistant',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'lookup', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'Found' },
      ],
    });
    expect(received().json.toolConfig).toEqual({
      tools: [
        {
          toolSpec: {
            name: 'lookup',
            description: 'The tool lookup.',
            inputSchema: { json: { type: 'object', properties: {} } },
          },
        },
      ],
    });
  });

  test('one at a time are asked of Claude in its own words, and refused for models that cannot be told', async () => {
    await client.chat.completions.create({ ...question, tools, parallel_tool_calls: false });
    expect(received().json.additionalModelRequestFields).toEqual({
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    });
    const refused = await client.chat.completions
      .create({ ...question, model: nova, tools, parallel_tool_calls: false })
      .catch((fault) => fault);
    expect([refused.status, refused.error.field]).toEqual([400, 'parallel_tool_calls']);
  });
});

describe('an answer in a given form', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const format = { type: 'json_schema' as const, json_schema: { name: 'place', schema } };

  test('is forced by a tool where the model has no other way, and read back as content', async () => {
    const answer = { toolUse: { toolUseId: 'tooluse_9', name: 'gw_answer_in_given_form', input: { city: 'Rome' } } };
    const { whole, streamed } = await both(
      { content: [answer], stopReason: 'tool_use' },
      { ...question, model: nova, response_format: format },
    );
    for (const { choices } of [whole, streamed]) {
      expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: '{"city":"Rome"}' } });
      expect(choices[0].message.tool_calls).toBeUndefined();
    }
    expect(received().json.toolConfig).toEqual({
      tools: [
        {
          toolSpec: {
            name: 'gw_answer_in_given_form',
            description: 'Takes the answer in the form that was asked for.',
            inputSchema: { json: schema },
          },
        },
      ],
      toolChoice: { tool: { name: 'gw_answer_in_given_form' } },
    });
  });

  test('is asked for natively where the model takes schemas', async () => {
    provider.script(says('{"city":"Rome"}'));
    await client.chat.completions.create({
      ...question,
      model: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
      response_format: format,
    });
    const { textFormat } = received().json.outputConfig;
    expect(textFormat.structure.jsonSchema.name).toBe('place');
    expect(JSON.parse(textFormat.structure.jsonSchema.schema)).toEqual({ ...schema, additionalProperties: false });
    expect(received().json.toolConfig).toBeUndefined();
  });
});

describe('reasoning', () => {
  const thought = { reasoningContent: { reasoningText: { text: 'Rome is in Italy', signature: 'EqoB==' } } };
  const hidden = { reasoningContent: { redactedContent: 'c2VjcmV0' } };
  const strictOff = { 'x-gw-strict-open-ai-compliance': 'false' };

  test('is a share of the limit, and is shown with its signature to clients that are not strict', async () => {
    const { whole, streamed } = await both(
      { content: [thought, hidden, { text: 'Rome' }] },
      { ...question, reasoning_effort: 'high', max_completion_tokens: 10_000, temperature: 0.3 },
      strictOff,
    );
    expect(received().json).toMatchObject({
      inferenceConfig: { maxTokens: 10_000 },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 8_000 } },
    });
    expect(received().json.inferenceConfig.temperature).toBeUndefined();
    expect(whole.choices[0].message).toMatchObject({
      content: 'Rome',
      reasoning_content: 'Rome is in Italy',
      content_blocks: [
        { type: 'thinking', thinking: 'Rome is in Italy', signature: 'EqoB==' },
        { type: 'redacted_thinking', data: 'c2VjcmV0' },
        { type: 'text', text: 'Rome' },
      ],
    });
    expect(streamed.choices[0].message.content).toBe('Rome');
    expect(whole).toMatchObject({ metrics: { latencyMs: 420 } });
    expect(whole.choices[0].finish_reason).toBe('end_turn');
  });

  test('is kept from strict clients', async () => {
    const { whole } = await both({ content: [thought, { text: 'Rome' }] }, { ...question, reasoning_effort: 'low' });
    expect(Object.keys(whole.choices[0].message)).toEqual(['role', 'content', 'refusal']);
    expect(Object.keys(whole)).not.toContain('metrics');
  });

  test('comes back with its signature before the calls that it led to', async () => {
    await client.chat.completions.create({
      ...question,
      tools,
      reasoning_effort: 'medium',
      messages: [
        ...question.messages,
        {
          role: 'assistant',
          content_blocks: [
            { type: 'thinking', thinking: 'Rome is in Italy', signature: 'EqoB==' },
            { type: 'redacted_thinking', data: 'c2VjcmV0' },
          ],
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'time', arguments: '{}' } }],
        } as Json,
        { role: 'tool', tool_call_id: 'c1', content: 'Noon' },
      ],
    });
    expect(received().json.messages[1].content).toEqual([
      thought,
      hidden,
      { toolUse: { toolUseId: 'c1', name: 'time', input: {} } },
    ]);
    expect(received().json.additionalModelRequestFields.thinking.type).toBe('enabled');
  });
});

describe('what belongs to Bedrock alone', () => {
  test('passes through: guardrails, performance, metadata, betas, and fields for the model', async () => {
    const guardrailConfig = { guardrailIdentifier: 'gr-1', guardrailVersion: '1', trace: 'enabled' };
    const body: Json = {
      ...question,
      guardrail_config: guardrailConfig,
      performanceConfig: { latency: 'optimized' },
      service_tier: 'flex',
      metadata: { team: 'a|b' },
      top_k: 40,
      some_new_field: { deep: [1] },
    };
    await client.chat.completions.create(body, { headers: { 'anthropic-beta': 'context-1m-2025-08-07' } });
    expect(received().json).toMatchObject({
      guardrailConfig,
      performanceConfig: { latency: 'optimized' },
      serviceTier: { type: 'flex' },
      requestMetadata: { team: 'a-b' },
      additionalModelRequestFields: {
        top_k: 40,
        some_new_field: { deep: [1] },
        anthropic_beta: ['context-1m-2025-08-07'],
      },
    });
  });

  test('a guardrail that steps in is a content filter', async () => {
    const { whole, streamed } = await both(
      { content: [{ text: 'Sorry.' }], stopReason: 'guardrail_intervened', more: { trace: { guardrail: {} } } },
      question,
    );
    expect([whole.choices[0].finish_reason, streamed.choices[0].finish_reason]).toEqual([
      'content_filter',
      'content_filter',
    ]);
  });

  test('cache marks become cache points with their time to live', async () => {
    const body: Json = {
      ...question,
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Long.', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
        { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] },
      ],
    };
    await client.chat.completions.create(body);
    expect(received().json).toMatchObject({
      system: [{ text: 'Long.' }, { cachePoint: { type: 'default', ttl: '1h' } }],
      messages: [{ role: 'user', content: [{ text: 'Hi' }, { cachePoint: { type: 'default' } }] }],
    });
  });
});

describe('the responses route', () => {
  test('is served by Converse, whole and streamed', async () => {
    provider.script(says('Hello', ' there'));
    const asked = { model: nova, input: 'Say hello.', instructions: 'Be brief.' };
    const answer = await client.responses.create(asked);
    expect(answer.output_text).toBe('Hello there');
    expect(received().json).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Say hello.' }] }],
      system: [{ text: 'Be brief.' }],
    });
    const stream = client.responses.stream(asked);
    expect((await stream.finalResponse()).output_text).toBe('Hello there');
    expect(received().path).toBe(`/model/${encodeURIComponent(nova)}/converse-stream`);
  });
});
