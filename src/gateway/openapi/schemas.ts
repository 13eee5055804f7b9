/** What model routes take and answer, as far as it is the same for every provider. Fields that are not named here travel on. */
import { type JsonSchema, schemaReference } from '../../http/openapi-document.ts';

const text = (description?: string): JsonSchema => ({ type: 'string', ...(description && { description }) });
const number: JsonSchema = { type: 'number' };
const integer: JsonSchema = { type: 'integer' };
const flag: JsonSchema = { type: 'boolean' };
const anything: JsonSchema = {};
const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
const nullable = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] });
const either = (...anyOf: JsonSchema[]): JsonSchema => ({ anyOf });

/** Whatever else a provider knows is allowed. */
const open = (properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: true,
});

const freeForm: JsonSchema = { type: 'object', additionalProperties: true };
const model = text('A model of the chosen provider, or `@slug/model` of a saved one');
const stream: JsonSchema = { type: 'boolean', default: false };
const temperature: JsonSchema = { type: 'number', minimum: 0, maximum: 2 };
const fileField: JsonSchema = { type: 'string', format: 'binary' };

const sampling = {
  temperature,
  top_p: { type: 'number', minimum: 0, maximum: 1 } as JsonSchema,
  stream,
};

const listed = (name: string): JsonSchema =>
  open({ object: { type: 'string', enum: ['list'] }, data: listOf(schemaReference(name)), has_more: flag }, ['data']);

const picture = open({ url: text(), b64_json: text(), revised_prompt: text() });

export const gatewaySchemas: Readonly<Record<string, JsonSchema>> = {
  ChatMessage: open(
    {
      role: { type: 'string', enum: ['system', 'developer', 'user', 'assistant', 'tool', 'function'] },
      content: nullable(either(text(), listOf(freeForm))),
      name: text(),
      tool_calls: listOf(freeForm),
      tool_call_id: text(),
    },
    ['role'],
  ),
  ChatCompletionRequest: open(
    {
      model,
      messages: { type: 'array', items: schemaReference('ChatMessage'), minItems: 1 },
      ...sampling,
      stream_options: freeForm,
      max_tokens: { type: 'integer', minimum: 1 },
      max_completion_tokens: { type: 'integer', minimum: 1 },
      n: { type: 'integer', minimum: 1 },
      stop: either(text(), listOf(text())),
      seed: integer,
      tools: listOf(freeForm),
      tool_choice: either(text(), freeForm),
      response_format: freeForm,
      reasoning_effort: text(),
      user: text(),
    },
    ['messages'],
  ),
  TokenUsage: open({ prompt_tokens: integer, completion_tokens: integer, total_tokens: integer }),
  ChatCompletion: open(
    {
      id: text(),
      object: text(),
      created: integer,
      model: text(),
      choices: listOf(
        open({ index: integer, message: schemaReference('ChatMessage'), finish_reason: nullable(text()) }, ['message']),
      ),
      usage: schemaReference('TokenUsage'),
      provider: text('The provider that answered, where its answer was translated'),
    },
    ['choices'],
  ),
  CompletionRequest: open(
    { model, prompt: either(text(), listOf(text())), ...sampling, max_tokens: integer, n: integer, user: text() },
    ['prompt'],
  ),
  Completion: open(
    {
      id: text(),
      object: text(),
      created: integer,
      model: text(),
      choices: listOf(open({ index: integer, text: text(), finish_reason: nullable(text()) })),
      usage: schemaReference('TokenUsage'),
    },
    ['choices'],
  ),
  EmbeddingRequest: open(
    {
      model,
      input: either(text(), listOf(text()), listOf(integer), listOf(listOf(integer)), listOf(freeForm)),
      encoding_format: { type: 'string', enum: ['float', 'base64'] },
      dimensions: { type: 'integer', minimum: 1 },
      user: text(),
    },
    ['input'],
  ),
  EmbeddingList: open(
    {
      object: text(),
      model: text(),
      data: listOf(open({ object: text(), index: integer, embedding: either(listOf(number), text()) }, ['embedding'])),
      usage: schemaReference('TokenUsage'),
    },
    ['data'],
  ),
  RerankRequest: open(
    { model, query: text(), documents: listOf(either(text(), freeForm)), top_n: { type: 'integer', minimum: 1 } },
    ['query', 'documents'],
  ),
  RerankResult: open({ results: listOf(open({ index: integer, relevance_score: number })) }, ['results']),
  ModerationRequest: open({ model, input: either(text(), listOf(text()), listOf(freeForm)) }, ['input']),
  ModerationResult: open({ id: text(), model: text(), results: listOf(freeForm) }, ['results']),
  ImageRequest: open(
    { model, prompt: text(), n: integer, size: text(), quality: text(), response_format: text(), user: text() },
    ['prompt'],
  ),
  ImageForm: open({ model, prompt: text(), image: fileField, mask: fileField, n: integer, size: text() }, ['image']),
  ImageList: open({ created: integer, data: listOf(picture) }, ['data']),
  SpeechRequest: open(
    { model, input: text(), voice: either(text(), freeForm), response_format: text(), speed: number },
    ['input'],
  ),
  AudioForm: open({ model, file: fileField, language: text(), prompt: text(), response_format: text(), temperature }, [
    'file',
  ]),
  Transcript: open({ text: text() }, ['text']),
  ResponseRequest: open({
    model,
    input: either(text(), listOf(freeForm)),
    instructions: text(),
    ...sampling,
    max_output_tokens: integer,
    previous_response_id: text(),
    tools: listOf(freeForm),
    store: flag,
    background: flag,
  }),
  ModelResponse: open({
    id: text(),
    object: text(),
    created_at: number,
    status: text(),
    model: text(),
    output: listOf(freeForm),
    usage: freeForm,
    error: nullable(freeForm),
  }),
  MessagesRequest: open(
    {
      model,
      messages: { type: 'array', items: freeForm, minItems: 1 },
      max_tokens: { type: 'integer', minimum: 1 },
      system: either(text(), listOf(freeForm)),
      ...sampling,
      stop_sequences: listOf(text()),
      tools: listOf(freeForm),
      tool_choice: freeForm,
      thinking: freeForm,
    },
    ['messages'],
  ),
  AnthropicMessage: open({
    id: text(),
    type: text(),
    role: text(),
    model: text(),
    content: listOf(freeForm),
    stop_reason: nullable(text()),
    usage: freeForm,
  }),
  TokenCount: open({ input_tokens: integer }, ['input_tokens']),
  OcrRequest: open({ model, document: freeForm }, ['document']),
  OcrResult: open({ pages: listOf(freeForm), model: text() }, ['pages']),
  Model: open({ id: text(), object: text(), created: integer, owned_by: text() }, ['id']),
  ModelList: listed('Model'),
  FileForm: open({ file: fileField, purpose: text('`batch` for the rows of a batch') }, ['file', 'purpose']),
  File: open({ id: text(), object: text(), bytes: integer, created_at: integer, filename: text(), purpose: text() }, [
    'id',
  ]),
  FileList: listed('File'),
  BatchRequest: open(
    {
      input_file_id: text(),
      endpoint: text('Such as `/v1/chat/completions`'),
      completion_window: text('`24h`, or `immediate` for a batch that the gateway runs itself'),
      metadata: freeForm,
      gw_options: { type: 'object', additionalProperties: true, description: 'Headers that every row is sent with' },
    },
    ['input_file_id'],
  ),
  Batch: open({ id: text(), object: text(), status: text(), input_file_id: text(), output_file_id: nullable(text()) }, [
    'id',
  ]),
  BatchList: listed('Batch'),
  FineTuneRequest: open({ model, training_file: text(), validation_file: text(), suffix: text() }, ['training_file']),
  FineTune: open({ id: text(), object: text(), status: text(), model: text() }, ['id']),
  FineTuneList: listed('FineTune'),
  Deleted: open({ id: text(), object: text(), deleted: flag }),
  PromptRequest: open({
    variables: {
      type: 'object',
      additionalProperties: anything,
      description: 'Values for the variables of the prompt',
    },
    stream,
  }),
  RenderedPrompt: open({ success: flag, data: freeForm }, ['success', 'data']),
  GatewayError: open(
    {
      status: { type: 'string', enum: ['failure'] },
      message: text('What went wrong and what to do. Our own words begin with `Gateway error: `'),
      error: open({
        message: text(),
        type: nullable(text()),
        param: nullable(text()),
        code: nullable(text('One of those that docs/gateway.md lists, or the provider’s own')),
        field: text('The header or field at fault'),
      }),
      provider: text(),
    },
    ['error'],
  ),
};
