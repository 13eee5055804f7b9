/** A request is tried again, and given to the next provider, from the very same body: whoever writes it in its own dialect changes nothing of it. */
import { expect, test } from 'bun:test';
import { callFacts } from '../../test/call-facts.ts';
import { translate } from './chat/family.ts';
import { EncodedBody } from './encoded-body.ts';
import type { EndpointKind } from './endpoints.ts';
import { RequestFault } from './faults.ts';
import { fronts } from './fronts/index.ts';
import { allProviders } from './index.ts';
import { openAiFamily } from './openai/family.ts';
import type { CallFacts, JsonObject, Provider } from './provider.ts';

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) frozen(inner);
    Object.freeze(value);
  }
  return value;
}

const schema = {
  type: 'object',
  properties: { city: { $ref: '#/$defs/place' }, kind: { const: 'a' }, size: { type: ['number', 'null'], minimum: 1 } },
  required: ['city'],
  additionalProperties: false,
  $defs: { place: { type: 'string', minLength: 1 } },
};
const cache_control = { type: 'ephemeral', ttl: '1h' };
const image = 'data:image/png;base64,aGk=';

const chats: JsonObject[] = [
  { messages: [{ role: 'user', content: 'Hello' }] },
  {
    messages: [
      { role: 'developer', content: [{ type: 'text', text: 'Be kind.', cache_control }] },
      {
        role: 'user',
        name: 'ada',
        content: [
          { type: 'text', text: 'Look', cache_control },
          { type: 'image_url', image_url: { url: image, detail: 'low' } },
        ],
      },
      {
        role: 'assistant',
        content: 'Looking. ',
        reasoning_content: 'Hm.',
        content_blocks: [{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }],
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
          { id: 'call_2', type: 'function', function: { name: 'weather', arguments: '' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: '{"degrees":20}', cache_control }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'wet' },
    ],
    tools: [{ type: 'function', function: { name: 'weather', parameters: schema, strict: true }, cache_control }],
    tool_choice: 'auto',
    max_completion_tokens: 5_000,
    temperature: 0,
    stop: ['END'],
    seed: 1,
    user: 'u-1',
    metadata: { team: 'a' },
  },
  {
    messages: [{ role: 'user', content: 'Hello' }],
    response_format: { type: 'json_schema', json_schema: { name: 'x', schema, strict: true } },
  },
  {
    messages: [{ role: 'user', content: 'Hello' }],
    functions: [{ name: 'f', parameters: schema }],
    function_call: 'auto',
  },
  { messages: [{ role: 'user', content: 'Hello' }], reasoning_effort: 'low', stream_options: { include_usage: true } },
];

const message: JsonObject = {
  max_tokens: 5_000,
  system: [{ type: 'text', text: 'Be kind.', cache_control }],
  messages: [
    { role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
        { type: 'tool_use', id: 't1', name: 'weather', input: { city: 'Rome' } },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'wet' }], cache_control }],
    },
  ],
  tools: [{ name: 'weather', input_schema: schema }],
};

const response: JsonObject = {
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'Look' },
        { type: 'input_image', image_url: image },
      ],
    },
    { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'wet' },
  ],
  tools: [{ type: 'function', name: 'weather', parameters: schema }],
};

const bodies: readonly (readonly [kind: EndpointKind, body: JsonObject])[] = [
  ...chats.map((body) => ['chatComplete', body] as const),
  ['messages', message],
  ['createModelResponse', response],
];

const models = [
  'model-1',
  'claude-3-7-sonnet-20250219',
  'gemini-1.5-pro',
  'anthropic.claude-sonnet-4-5-v1:0',
  'amazon.nova-2-lite-v1:0',
  'cohere.command-r',
  'mistralai.mistral-small-2503',
];

/** Whatever any provider needs to be set. */
const settings = (provider: Provider): JsonObject =>
  frozen({
    ...Object.fromEntries((provider.fields ?? []).map(({ name }) => [name, 'a'])),
    azure_foundry_url: 'https://a.test',
    watsonx_url: 'https://a.test',
    azure_auth_mode: 'apiKey',
    mistral_fim_completion: 'false',
  });

/** What is written of a body: the request, or the field that was refused. */
function written(provider: Provider, facts: CallFacts): unknown {
  try {
    const { kind } = facts;
    const offered = provider.endpoints[kind] ?? provider.endpoints.chatComplete;
    const endpoint = typeof offered === 'function' ? offered(facts) : offered;
    const front = fronts[kind];
    if (!endpoint || !front) return null;
    const isOwn = provider.endpoints[kind] !== undefined;
    const translation =
      isOwn && !endpoint.chat ? endpoint.translation : translate(front, endpoint.chat ?? openAiFamily);
    const body = translation?.request?.(facts) ?? facts.body;
    return body instanceof EncodedBody ? body : (endpoint.adjust?.(body, facts) ?? body);
  } catch (fault) {
    if (fault instanceof RequestFault) return fault.field;
    throw fault;
  }
}

test.each(allProviders.map((provider) => [provider.id, provider] as const))(
  '%s leaves what it writes from as it was, and writes the same again',
  (_, provider) => {
    const fields = settings(provider);
    for (const [kind, body] of bodies) {
      for (const model of models) {
        const facts = (): CallFacts =>
          callFacts({ provider: provider.id, kind, model, fields, body: frozen({ ...body, model }) });
        expect(written(provider, facts())).toEqual(written(provider, facts()));
      }
    }
  },
);
