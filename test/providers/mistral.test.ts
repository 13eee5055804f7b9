/** The simulated Mistral, held against Mistral's own SDK. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { Mistral } from '@mistralai/mistralai';
import { mistral } from './mistral.ts';
import { type SimulatedProvider, startProvider } from './simulated.ts';

let provider: SimulatedProvider;
let client: Mistral;

beforeAll(async () => {
  provider = await startProvider(mistral({ text: 'Hello' }));
  client = new Mistral({ apiKey: 'key', serverURL: provider.url.replace('/v1', '') });
});
afterAll(() => provider.stop());
beforeEach(() => provider.script(mistral({ text: 'Hello' })));

const question = { model: 'mistral-small-latest', messages: [{ role: 'user' as const, content: 'Hi' }] };
const tools = [{ type: 'function' as const, function: { name: 'f', parameters: { type: 'object' } } }];

describe('Mistral’s SDK', () => {
  test('reads an answer, its usage and its end', async () => {
    const { choices, usage } = await client.chat.complete({ ...question, randomSeed: 7, safePrompt: false });
    expect(choices?.[0]).toMatchObject({ message: { content: 'Hello' }, finishReason: 'stop' });
    expect(usage).toMatchObject({ promptTokens: 12, completionTokens: 5, totalTokens: 17 });
  });

  test('reads a stream', async () => {
    let text = '';
    let end: unknown = null;
    for await (const { data } of await client.chat.stream(question)) {
      text += data.choices[0]?.delta.content ?? '';
      end = data.choices[0]?.finishReason ?? end;
    }
    expect([text, end]).toEqual(['Hello', 'stop']);
  });

  test('reads thoughts', async () => {
    provider.script(mistral({ thought: 'Hm', text: 'Hello' }));
    const { choices } = await client.chat.complete({ ...question, model: 'magistral-small-latest' });
    expect(choices?.[0]?.message?.content).toMatchObject([
      { type: 'thinking', thinking: [{ text: 'Hm' }] },
      { type: 'text', text: 'Hello' },
    ]);
  });

  test('reads calls of tools, whole and streamed, and sends their results', async () => {
    provider.script(mistral({ calls: [{ id: 'abcDEF123', name: 'f', arguments: '{"a":1}' }] }));
    const { choices } = await client.chat.complete({ ...question, tools, toolChoice: 'any' });
    const call = { id: 'abcDEF123', function: { name: 'f', arguments: '{"a":1}' } };
    expect(choices?.[0]).toMatchObject({ finishReason: 'tool_calls', message: { toolCalls: [call] } });
    const seen: unknown[] = [];
    for await (const { data } of await client.chat.stream({ ...question, tools })) {
      seen.push(...(data.choices[0]?.delta.toolCalls ?? []));
    }
    expect(seen).toMatchObject([call]);
    const after = await client.chat.complete({
      ...question,
      tools,
      messages: [
        ...question.messages,
        { role: 'assistant', content: '', toolCalls: [call] },
        { role: 'tool', name: 'f', toolCallId: 'abcDEF123', content: '2' },
      ],
    });
    expect(after.choices).toHaveLength(1);
  });

  test('is refused what Mistral refuses', async () => {
    const messages = [{ role: 'tool' as const, toolCallId: 'call_1', content: '2' }];
    expect(client.chat.complete({ ...question, messages })).rejects.toThrow('invalid_function_call');
  });

  test('fills in the middle, embeds, reads pages and lists models', async () => {
    const filled = await client.fim.complete({ model: 'codestral-latest', prompt: 'def f(', suffix: 'return 1' });
    expect(filled.choices?.[0]?.message?.content).toBe('Hello');
    const { data } = await client.embeddings.create({ model: 'mistral-embed', inputs: ['a'] });
    expect(data[0]?.embedding).toEqual([0.5, 1]);
    const { pages } = await client.ocr.process({
      model: 'mistral-ocr-latest',
      document: { type: 'document_url', documentUrl: 'https://example.com/a.pdf' },
    });
    expect(pages[0]?.markdown).toBe('# Title');
    const models = await client.models.list();
    expect(models.data?.[0]).toMatchObject({ id: 'mistral-small-latest' });
  });
});
