/** Google's own SDK, straight at the simulated API: it reads what the real one sends, and is refused what the real one refuses. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type ApiError, FunctionCallingConfigMode, GoogleGenAI } from '@google/genai';
import { answers, says } from './gemini.ts';
import { json, type SimulatedProvider, startProvider } from './simulated.ts';

let provider: SimulatedProvider;
let client: GoogleGenAI;
beforeAll(async () => {
  provider = await startProvider(says('Hello'));
  client = clientWith('key-1');
});
afterAll(() => provider.stop());

const clientWith = (apiKey: string): GoogleGenAI =>
  new GoogleGenAI({ apiKey, vertexai: false, httpOptions: { baseUrl: new URL(provider.url).origin } });

const model = 'gemini-2.5-flash';

test('text comes whole and in pieces, with its usage', async () => {
  provider.script(says('Grüße aus Köln, Freund!'));
  const whole = await client.models.generateContent({ model, contents: 'Hi' });
  expect(whole.text).toBe('Grüße aus Köln, Freund!');
  let text = '';
  let last = whole;
  for await (const chunk of await client.models.generateContentStream({ model, contents: 'Hi' })) {
    text += chunk.text;
    last = chunk;
  }
  expect(text).toBe('Grüße aus Köln, Freund!');
  expect([last.candidates?.[0]?.finishReason as string, last.usageMetadata?.totalTokenCount]).toEqual(['STOP', 30]);
});

test('calls, thoughts and several candidates are read by the SDK', async () => {
  const call = { functionCall: { name: 'now', args: { zone: 'CET' } }, thoughtSignature: 'c2ln' };
  provider.script(
    answers({ candidates: [{ parts: [{ text: 'Hm.', thought: true }, call] }, { parts: [{ text: 'B' }] }] }),
  );
  const answer = await client.models.generateContent({
    model,
    contents: 'What time is it?',
    config: {
      systemInstruction: 'Be exact.',
      candidateCount: 2,
      tools: [{ functionDeclarations: [{ name: 'now', parametersJsonSchema: { type: 'object' } }] }],
      toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY } },
      thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 },
    },
  });
  expect(answer.functionCalls).toEqual([{ name: 'now', args: { zone: 'CET' } }]);
  expect(answer.candidates?.length).toBe(2);
});

test('embeddings and models are read by the SDK', async () => {
  provider.script(json(200, { embeddings: [{ values: [0.5, -1] }] }));
  const { embeddings } = await client.models.embedContent({ model: 'gemini-embedding-001', contents: ['a'] });
  expect(embeddings?.[0]?.values).toEqual([0.5, -1]);
  expect(provider.calls.at(-1)?.path).toBe('/v1beta/models/gemini-embedding-001:batchEmbedContents');
});

const refusal = (asked: Promise<unknown>): Promise<ApiError> =>
  asked.then(
    () => Promise.reject(new Error('Nothing was refused')),
    (error: ApiError) => error,
  );

test.each([
  ['a turn without parts', { model, contents: [{ role: 'user', parts: [] }] }, 'must not be empty'],
  [
    'a result without its call',
    { model, contents: [{ role: 'user', parts: [{ functionResponse: { name: 'now', response: {} } }] }] },
    'number of function response parts',
  ],
  [
    'a budget out of range',
    { model, contents: 'Hi', config: { thinkingConfig: { thinkingBudget: 99_999 } } },
    'thinking budget',
  ],
  [
    'JSON beside functions',
    {
      model,
      contents: 'Hi',
      config: { responseMimeType: 'application/json', tools: [{ functionDeclarations: [{ name: 'now' }] }] },
    },
    'response mime type',
  ],
])('%s is refused', async (_, request, words) => {
  provider.script(says('Hello'));
  const error = await refusal(client.models.generateContent(request));
  expect(error.status).toBe(400);
  expect(error.message).toContain(words);
});

test('the third generation refuses an unsigned call', async () => {
  provider.script(says('Hello'));
  const contents = [
    { role: 'user', parts: [{ text: 'Hi' }] },
    { role: 'model', parts: [{ functionCall: { name: 'now', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'now', response: { output: 1 } } }] },
  ];
  const error = await refusal(client.models.generateContent({ model: 'gemini-3-flash-preview', contents }));
  expect(error.message).toContain('thought_signature');
});

test('a wrong key is refused', async () => {
  provider.script(says('Hello'));
  const error = await refusal(clientWith('wrong').models.generateContent({ model, contents: 'Hi' }));
  expect([error.status, error.message]).toEqual([400, expect.stringContaining('API key not valid')]);
});
