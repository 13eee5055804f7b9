/** Routes of the data plane with a rich valid body for each: what properties about hostile requests and answers start from. */
import type { EndpointKind } from '../src/providers/endpoints.ts';

export interface HostileRoute {
  path: string;
  kind: EndpointKind;
  errorForm: 'openai' | 'anthropic';
  /** Sent as a form, with a file beside the fields. */
  form?: boolean;
  body: object;
}

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const schema = {
  type: 'object',
  properties: { city: { type: ['string', 'null'], enum: ['Paris', null] }, at: { $ref: '#/$defs/at' } },
  $defs: { at: { anyOf: [{ type: 'number' }, { type: 'array', items: { type: 'string' } }] } },
  required: ['city'],
  additionalProperties: false,
};

const chat = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'developer', content: [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } }] },
    {
      role: 'user',
      name: 'ann',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}`, detail: 'low' } },
      ],
    },
    {
      role: 'assistant',
      content: 'I look.',
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"city":"Paris"}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'Rain' }] },
    { role: 'user', content: 'And now?' },
  ],
  tools: [{ type: 'function', function: { name: 'look', description: 'Looks', parameters: schema, strict: true } }],
  tool_choice: { type: 'function', function: { name: 'look' } },
  parallel_tool_calls: true,
  response_format: { type: 'json_schema', json_schema: { name: 'place', schema, strict: true } },
  reasoning_effort: 'low',
  max_completion_tokens: 200,
  temperature: 0.5,
  top_p: 0.9,
  n: 1,
  stop: ['END'],
  seed: 7,
  logprobs: true,
  top_logprobs: 2,
  logit_bias: { '50256': -100 },
  metadata: { team: 'a' },
  user: 'u1',
  stream: false,
  stream_options: { include_usage: true },
  service_tier: 'auto',
  modalities: ['text'],
  presence_penalty: 0.1,
  frequency_penalty: 0.1,
  thinking: { type: 'enabled', budget_tokens: 1024 },
};

const audio = { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }] };
const file = {
  role: 'user',
  content: [{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } }],
};

/** Fields of single providers, which travel beside those that all know. */
const own = {
  anthropic_beta: ['files-api-2025-04-14'],
  context_management: { edits: [{ type: 'clear_tool_uses_20250919', keep: { type: 'tool_uses', value: 3 } }] },
  container: { skills: [{ type: 'anthropic', skill_id: 'pptx' }] },
  mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'm' }],
  output_config: { task_budget: { total: 5 } },
  speed: 'fast',
  safety_settings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
  generation_config: { topK: 3 },
  cached_content: 'cachedContents/1',
  image_config: { aspect_ratio: '1:1' },
  speech_config: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
  media_resolution: 'low',
  documents: [{ id: 'd', data: { text: 'x' } }],
  citation_options: { mode: 'fast' },
  performance: 'standard',
  guardrailConfig: { guardrailIdentifier: 'g', guardrailVersion: '1', trace: 'enabled' },
  guardrail_config: { guardrailIdentifier: 'g', guardrailVersion: '1', trace: 'enabled' },
  additionalModelRequestFields: { top_k: 3 },
  top_k: 3,
  reasoning: { effort: 'low' },
  think: true,
  options: { num_ctx: 5 },
  tools: [
    { type: 'web_search_20250305', name: 'web_search' },
    { type: 'google_search', google_search: { time_range_filter: {} } },
    { type: 'function', function: { name: 'computer', parameters: { type: 'computer_20250124' } } },
    {
      type: 'custom',
      custom: { name: 'c', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } },
    },
  ],
};

const messages = {
  max_tokens: 100,
  system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '5m' } }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
        {
          type: 'document',
          title: 'd',
          source: { type: 'text', media_type: 'text/plain', data: 'x' },
          citations: { enabled: true },
        },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm', signature: 'c2ln' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'look', input: { city: 'Paris' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', is_error: false, content: [{ type: 'text', text: 'Rain' }] },
      ],
    },
  ],
  tools: [{ name: 'look', description: 'Looks', input_schema: schema }],
  tool_choice: { type: 'tool', name: 'look', disable_parallel_tool_use: true },
  thinking: { type: 'enabled', budget_tokens: 1024 },
  temperature: 1,
  top_k: 4,
  top_p: 0.9,
  stop_sequences: ['END'],
  metadata: { user_id: 'u1' },
  stream: false,
};

const responses = {
  instructions: 'Be brief.',
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'Look' },
        { type: 'input_image', image_url: `data:image/png;base64,${pixel}` },
      ],
    },
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'x' },
    { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"city":"Paris"}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'Rain' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Rain.' }] },
    { role: 'user', content: 'And now?' },
  ],
  tools: [{ type: 'function', name: 'look', description: 'Looks', parameters: schema, strict: true }],
  tool_choice: 'auto',
  text: { format: { type: 'json_schema', name: 'place', schema, strict: true }, verbosity: 'low' },
  reasoning: { effort: 'low', summary: 'auto' },
  max_output_tokens: 100,
  temperature: 0.5,
  top_p: 0.9,
  truncation: 'disabled',
  include: [],
  store: false,
  parallel_tool_calls: true,
  metadata: { team: 'a' },
  stream: false,
};

const embeddings = {
  input: ['one', { text: 'two', image: { url: `data:image/png;base64,${pixel}` } }],
  dimensions: 8,
  encoding_format: 'float',
  user: 'u',
};
const texts = { input: ['one', 'two'], dimensions: 8, encoding_format: 'base64', input_type: 'search_query' };
const image = {
  prompt: 'A cat',
  n: 1,
  size: '1024x1024',
  response_format: 'b64_json',
  output_format: 'png',
  quality: 'high',
  style: 'vivid',
  seed: 3,
  negative_prompt: 'dog',
};
const row = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: { ...chat, model: 'model-1' } };

const openai = 'openai' as const;

export const hostileRoutes: readonly HostileRoute[] = [
  { path: '/v1/chat/completions', kind: 'chatComplete', errorForm: openai, body: chat },
  {
    path: '/v1/chat/completions',
    kind: 'chatComplete',
    errorForm: openai,
    body: {
      messages: [audio, file],
      functions: [{ name: 'f', parameters: schema }],
      audio: { voice: 'alloy', format: 'wav' },
      prediction: { type: 'content', content: 'x' },
      web_search_options: { search_context_size: 'low' },
      ...own,
    },
  },
  {
    path: '/v1/completions',
    kind: 'complete',
    errorForm: openai,
    body: {
      prompt: ['Once', 'Twice'],
      suffix: 'end',
      max_tokens: 5,
      echo: true,
      best_of: 1,
      logprobs: 2,
      stop: ['x'],
      stream: false,
      n: 1,
    },
  },
  { path: '/v1/messages', kind: 'messages', errorForm: 'anthropic', body: messages },
  { path: '/v1/messages/count_tokens', kind: 'messagesCountTokens', errorForm: 'anthropic', body: messages },
  { path: '/v1/responses', kind: 'createModelResponse', errorForm: openai, body: responses },
  { path: '/v1/embeddings', kind: 'embed', errorForm: openai, body: embeddings },
  { path: '/v1/embeddings', kind: 'embed', errorForm: openai, body: texts },
  {
    path: '/v1/rerank',
    kind: 'rerank',
    errorForm: openai,
    body: {
      query: 'q',
      documents: ['a', { text: 'b', title: 't' }],
      top_n: 2,
      return_documents: true,
      rank_fields: ['text'],
      max_tokens_per_doc: 9,
    },
  },
  { path: '/v1/images/generations', kind: 'imageGenerate', errorForm: openai, body: image },
  {
    path: '/v1/images/edits',
    kind: 'imageEdit',
    errorForm: openai,
    form: true,
    body: { prompt: 'A cat', n: '1', size: '1024x1024', response_format: 'url', seed: '4' },
  },
  {
    path: '/v1/audio/speech',
    kind: 'createSpeech',
    errorForm: openai,
    body: {
      input: 'Hello',
      voice: 'alloy',
      response_format: 'mp3',
      speed: 1,
      instructions: 'Softly',
      language: 'en-US',
    },
  },
  {
    path: '/v1/audio/transcriptions',
    kind: 'createTranscription',
    errorForm: openai,
    form: true,
    body: {
      language: 'en',
      prompt: 'Names',
      response_format: 'verbose_json',
      temperature: '0',
      'timestamp_granularities[]': 'word',
      stream: 'false',
    },
  },
  {
    path: '/v1/audio/translations',
    kind: 'createTranslation',
    errorForm: openai,
    form: true,
    body: { prompt: 'Names', response_format: 'srt' },
  },
  { path: '/v1/moderations', kind: 'moderate', errorForm: openai, body: { input: ['a', { type: 'text', text: 'b' }] } },
  {
    path: '/v1/ocr',
    kind: 'ocr',
    errorForm: openai,
    body: { document: { type: 'document_url', document_url: 'data:application/pdf;base64,JVBERi0=' }, pages: [0] },
  },
  {
    path: '/v1/batches',
    kind: 'createBatch',
    errorForm: openai,
    body: {
      input_file_id: 'file-1',
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
      metadata: { a: 'b' },
      requests: [row, { custom_id: 'b', params: { model: 'm' } }],
      output_data_config: 's3://b/o',
      role_arn: 'arn:aws:iam::1:role/x',
      job_name: 'j',
    },
  },
  {
    path: '/v1/fine_tuning/jobs',
    kind: 'createFinetune',
    errorForm: openai,
    body: {
      training_file: 'file-1',
      validation_file: 'file-2',
      suffix: 's',
      hyperparameters: { n_epochs: 1, batch_size: 'auto' },
      method: { type: 'supervised', supervised: { hyperparameters: { n_epochs: 1 } } },
      role_arn: 'arn:aws:iam::1:role/x',
      output_file: 's3://b/o',
      job_name: 'j',
    },
  },
];
