/** OCI Generative AI in the format that it has for Cohere's older models: the last message apart, and calls without ids. */
import type { Json } from '../../harness.ts';
import { limit, place, weather, withAnyIds } from '../cells.ts';
import type { MatrixFamily } from '../family.ts';
import { oracle, served } from './oracle.ts';

const model = 'cohere.command-r-plus-08-2024';
const asking = (message: string, more: Json = {}): Json =>
  served(model, { apiFormat: 'COHERE', message, maxTokens: limit, ...more });
const user = (message: string): Json => ({ role: 'USER', message });
const { name, description } = weather;
const tools = [{ name, description, parameterDefinitions: { city: { type: 'string', isRequired: true } } }];
const rome = { name, parameters: { city: 'Rome' } };
const paris = { name, parameters: { city: 'Paris' } };
const ask = 'How is the weather?';

export const oracleCohere: MatrixFamily = {
  ...oracle,
  name: 'Oracle, for Cohere',
  model,
  asked: {
    text: asking('Hi'),
    'several turns': asking('Who are you?', { chatHistory: [user('Hi'), { role: 'CHATBOT', message: 'Hello' }] }),
    system: asking('Hi', { preambleOverride: 'Be brief.' }),
    'image in': null,
    'tool call': asking(ask, { tools }),
    'parallel tools': asking(ask, { tools }),
    'tool result turn': asking('', {
      chatHistory: [user(ask), { role: 'CHATBOT', message: 'I look.', toolCalls: [rome, paris] }],
      toolResults: [
        { call: rome, outputs: [{ result: 'Sunny' }] },
        { call: paris, outputs: [{ result: 'Rainy' }] },
      ],
      tools,
    }),
    'structured output': asking('Where?', { responseFormat: { type: 'JSON_OBJECT', schema: place } }),
    reasoning: null,
    'stop reason': asking('Go on.', { stopSequences: ['END'] }),
    error: asking('Hi'),
  },
  askedBy: { responses: { 'stop reason': asking('Go on.') } },
  ownTurn: { role: 'CHATBOT', message: 'I look.', toolCalls: [rome] },
  turnIn: ({ chatRequest }) => chatRequest.chatHistory[1],
  tells: withAnyIds,
  refuses: { 'image in': 'messages', reasoning: 'reasoning_effort' },
};
