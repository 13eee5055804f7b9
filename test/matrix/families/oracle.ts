/** OCI Generative AI in its general format. */
import type { Json } from '../../harness.ts';
import { keys, oracleApi, type Said } from '../../providers/oracle.ts';
import { json } from '../../providers/simulated.ts';
import { type Called, limit, pixel, place, type Script, weather, written } from '../cells.ts';
import type { MatrixFamily } from '../family.ts';

const model = 'meta.llama-4-maverick-17b-128e-instruct-fp8';
const compartment = 'ocid1.compartment';

/** A request to this model, which the compartment pays. */
export const served = (modelId: string, chatRequest: Json): Json => ({
  compartmentId: compartment,
  servingMode: { servingType: 'ON_DEMAND', modelId },
  chatRequest,
});

const asking = (messages: Json[], more: Json = {}): Json =>
  served(model, { apiFormat: 'GENERIC', messages, maxTokens: limit, ...more });
const text = (words: string): Json => ({ type: 'TEXT', text: words });
const user = (...content: Json[]): Json => ({ role: 'USER', content });
const { name, description, schema: parameters } = weather;
const tools = { tools: [{ type: 'FUNCTION', name, description, parameters }], toolChoice: { type: 'AUTO' } };
const call = ({ id, name, args }: Called): Json => ({ id, type: 'FUNCTION', name, arguments: JSON.stringify(args) });
const says = (words: string, ...calls: Json[]): Json => ({
  role: 'ASSISTANT',
  content: [text(words)],
  ...(calls.length > 0 && { toolCalls: calls }),
});
const result = (id: string, words: string): Json => ({ role: 'TOOL', toolCallId: id, content: [text(words)] });
const rome = call({ id: 'callRome1', name, args: { city: 'Rome' } });
const paris = call({ id: 'callPari2', name, args: { city: 'Paris' } });
const ask = user(text('How is the weather?'));

const saidOf = ({ text: words, thought, calls, stop }: Script): Said => ({
  ...(words !== undefined && { text: words }),
  ...(thought && { thinking: thought }),
  ...(calls && { calls: written(calls) }),
  ...(stop === 'length' && { finish: 'MAX_TOKENS' }),
});

export const oracle: MatrixFamily = {
  name: 'Oracle',
  provider: 'oracle',
  model,
  address: (url) => new URL(url).origin,
  settings: {
    oracle_region: 'us-chicago-1',
    oracle_compartment_id: compartment,
    oracle_tenancy: 'ocid1.tenancy',
    oracle_user: 'ocid1.user',
    oracle_fingerprint: '20:3b',
    oracle_private_key: keys.privateKey,
  },
  speaks: [],
  does: (script) =>
    script.fails
      ? json(script.fails.status, { code: 'TooManyRequests', message: script.fails.message })
      : oracleApi('ocid1.tenancy/ocid1.user/20:3b', () => saidOf(script)),
  asked: {
    text: asking([user(text('Hi'))]),
    'several turns': asking([user(text('Hi')), says('Hello'), user(text('Who are you?'))]),
    system: asking([{ role: 'SYSTEM', content: [text('Be brief.')] }, user(text('Hi'))]),
    'image in': asking([
      user(text('What is it?'), { type: 'IMAGE', imageUrl: { url: `data:image/png;base64,${pixel}` } }),
    ]),
    'tool call': asking([ask], tools),
    'parallel tools': asking([ask], tools),
    'tool result turn': asking(
      [ask, says('I look.', rome, paris), result('callRome1', 'Sunny'), result('callPari2', 'Rainy')],
      tools,
    ),
    'structured output': asking([user(text('Where?'))], {
      responseFormat: {
        type: 'JSON_SCHEMA',
        jsonSchema: { name: 'structured_output', schema: place, isStrict: true },
      },
    }),
    reasoning: asking([user(text('Why?'))], { reasoningEffort: 'LOW' }),
    'stop reason': asking([user(text('Go on.'))], { stop: ['END'] }),
    error: asking([user(text('Hi'))]),
  },
  askedBy: { responses: { 'stop reason': asking([user(text('Go on.'))]) } },
  streamed: (body) => ({
    ...body,
    chatRequest: { ...body.chatRequest, isStream: true, streamOptions: { isIncludeUsage: true } },
  }),
  ownTurn: says('I look.', rome),
  turnIn: ({ chatRequest }) => chatRequest.messages[1],
  usage: { input: 40, cached: 8, output: 12 },
};
