/** Google's Gemini. */
import type { Json } from '../../harness.ts';
import { answers, calledMethod, fault, type Scripted } from '../../providers/gemini.ts';
import { type Called, limit, pixel, place, type Script, weather } from '../cells.ts';
import type { MatrixFamily } from '../family.ts';

const model = 'gemini-3-flash-preview';
const generationConfig = { maxOutputTokens: limit };
const base = { method: 'generateContent', model, generationConfig };
const user = (...parts: Json[]): Json => ({ role: 'user', parts });
const says = (...parts: Json[]): Json => ({ role: 'model', parts });
const text = (words: string): Json => ({ text: words });
const { name, description } = weather;
const tools = {
  tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema: weather.schema }] }],
  toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
};
const call = ({ id, name, args }: Called): Json => ({ functionCall: { id, name, args } });
const result = (id: string, words: string): Json => ({ functionResponse: { id, name, response: { output: words } } });
const ask = user(text('How is the weather?'));
const goOn = { ...base, contents: [user(text('Go on.'))] };

export const scriptOf = ({ text: words, thought, calls = [], stop }: Script): Scripted => ({
  candidates: [
    {
      parts: [
        ...(thought ? [{ text: thought, thought: true }] : []),
        ...(words === undefined ? [] : [{ text: words }]),
        ...calls.map((called, index) => ({
          ...call(called),
          ...(thought && index === 0 && { thoughtSignature: 'c2ln' }),
        })),
      ],
      finishReason: stop === 'length' ? 'MAX_TOKENS' : 'STOP',
    },
  ],
  usage: { cachedContentTokenCount: 5 },
});

export const gemini: MatrixFamily = {
  name: 'Gemini',
  provider: 'google',
  model,
  address: (url) => new URL(url).origin,
  speaks: [],
  does: (script) =>
    script.fails ? fault(script.fails.status, 'RESOURCE_EXHAUSTED', script.fails.message) : answers(scriptOf(script)),
  received: ({ path, json }) => ({ ...calledMethod(path), ...json }),
  asked: {
    text: { ...base, contents: [user(text('Hi'))] },
    'several turns': { ...base, contents: [user(text('Hi')), says(text('Hello')), user(text('Who are you?'))] },
    system: { ...base, systemInstruction: { parts: [text('Be brief.')] }, contents: [user(text('Hi'))] },
    'image in': {
      ...base,
      contents: [user(text('What is it?'), { inlineData: { mimeType: 'image/png', data: pixel } })],
    },
    'tool call': { ...base, contents: [ask], ...tools },
    'parallel tools': { ...base, contents: [ask], ...tools },
    'tool result turn': {
      ...base,
      contents: [
        ask,
        says(
          text('I look.'),
          // A turn that came from elsewhere has no signature to check.
          {
            ...call({ id: 'callRome1', name, args: { city: 'Rome' } }),
            thoughtSignature: 'skip_thought_signature_validator',
          },
          call({ id: 'callPari2', name, args: { city: 'Paris' } }),
        ),
        user(result('callRome1', 'Sunny'), result('callPari2', 'Rainy')),
      ],
      ...tools,
    },
    'structured output': {
      ...base,
      contents: [user(text('Where?'))],
      generationConfig: { ...generationConfig, responseMimeType: 'application/json', responseJsonSchema: place },
    },
    reasoning: {
      ...base,
      contents: [user(text('Why?'))],
      generationConfig: { ...generationConfig, thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true } },
    },
    'stop reason': { ...goOn, generationConfig: { ...generationConfig, stopSequences: ['END'] } },
    error: { ...base, contents: [user(text('Hi'))] },
  },
  askedBy: { responses: { 'stop reason': goOn } },
  streamed: (body) => ({ ...body, method: 'streamGenerateContent' }),
  ownTurn: says(text('I look.'), {
    ...call({ id: 'callRome1', name, args: { city: 'Rome' } }),
    thoughtSignature: 'c2ln',
  }),
  turnIn: ({ contents }) => contents[1],
  usage: { input: 20, cached: 5, output: 10 },
};
