/** Amazon Bedrock's Converse. */
import type { Json } from '../../harness.ts';
import { converses, invoked, keySettings, refuses } from '../../providers/bedrock.ts';
import { type Called, limit, pixel, place, weather } from '../cells.ts';
import type { MatrixFamily } from '../family.ts';

const model = 'amazon.nova-pro-v1:0';
const base = { model, operation: 'converse', inferenceConfig: { maxTokens: limit } };
const text = (words: string): Json => ({ text: words });
const user = (...content: Json[]): Json => ({ role: 'user', content });
const says = (...content: Json[]): Json => ({ role: 'assistant', content });
const { name, description, schema } = weather;
const toolConfig = {
  tools: [{ toolSpec: { name, description, inputSchema: { json: schema } } }],
  toolChoice: { auto: {} },
};
const use = ({ id, name, args }: Called): Json => ({ toolUse: { toolUseId: id, name, input: args } });
const result = (id: string, words: string): Json => ({ toolResult: { toolUseId: id, content: [text(words)] } });
const rome = use({ id: 'callRome1', name, args: { city: 'Rome' } });
const paris = use({ id: 'callPari2', name, args: { city: 'Paris' } });
const ask = user(text('How is the weather?'));
const formTool = 'gw_answer_in_given_form';
const goOn = { ...base, messages: [user(text('Go on.'))] };

export const bedrock: MatrixFamily = {
  name: 'Bedrock Converse',
  provider: 'bedrock',
  model,
  address: (url) => new URL(url).origin,
  settings: keySettings,
  speaks: [],
  does: ({ text: words, thought, calls = [], stop, fails }) =>
    fails
      ? refuses(fails.status, 'ThrottlingException', fails.message)
      : (call, response) => {
          const forced = call.json.toolConfig?.toolChoice?.tool?.name;
          const used = forced ? [{ id: 'tooluse_1', name: forced, args: JSON.parse(words ?? '{}') }] : calls;
          return converses({
            content: [
              ...(thought ? [{ reasoningContent: { reasoningText: { text: thought, signature: 'sig' } } }] : []),
              ...(forced || words === undefined ? [] : [text(words)]),
              ...used.map(use),
            ],
            stopReason: used.length > 0 ? 'tool_use' : stop === 'length' ? 'max_tokens' : 'end_turn',
            usage: {
              inputTokens: 15,
              cacheReadInputTokens: 5,
              cacheWriteInputTokens: 0,
              outputTokens: 10,
              totalTokens: 30,
            },
          })(call, response);
        },
  received: (call) => ({ ...invoked(call), ...call.json }),
  asked: {
    text: { ...base, messages: [user(text('Hi'))] },
    'several turns': { ...base, messages: [user(text('Hi')), says(text('Hello')), user(text('Who are you?'))] },
    system: { ...base, system: [text('Be brief.')], messages: [user(text('Hi'))] },
    'image in': {
      ...base,
      messages: [user(text('What is it?'), { image: { format: 'png', source: { bytes: pixel } } })],
    },
    'tool call': { ...base, messages: [ask], toolConfig },
    'parallel tools': { ...base, messages: [ask], toolConfig },
    'tool result turn': {
      ...base,
      messages: [
        ask,
        says(text('I look.'), rome, paris),
        user(result('callRome1', 'Sunny'), result('callPari2', 'Rainy')),
      ],
      toolConfig,
    },
    // Without a mode for it, the answer is the input of a tool that must be called.
    'structured output': {
      ...base,
      messages: [user(text('Where?'))],
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: formTool,
              description: 'Takes the answer in the form that was asked for.',
              inputSchema: { json: place },
            },
          },
        ],
        toolChoice: { tool: { name: formTool } },
      },
    },
    reasoning: null,
    'stop reason': { ...goOn, inferenceConfig: { maxTokens: limit, stopSequences: ['END'] } },
    error: { ...base, messages: [user(text('Hi'))] },
  },
  askedBy: { responses: { 'stop reason': goOn } },
  streamed: (body) => ({ ...body, operation: 'converse-stream' }),
  ownTurn: says(text('I look.'), rome),
  turnIn: ({ messages }) => messages[1],
  usage: { input: 20, cached: 5, output: 10 },
  refuses: { reasoning: 'reasoning_effort' },
};
