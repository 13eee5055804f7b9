/** Workers AI, watsonx.ai and the small ones, each in its own dialect. */
import { completion, usage, wholeStream } from './openai.ts';
import { pictureAt, pictureBase64 } from './picture-makers.ts';
import { type Behaviour, json, stream } from './simulated.ts';

const cloudflareRefusal = (status: number, code: number, message: string): Behaviour =>
  json(status, { result: null, success: false, errors: [{ code, message }], messages: [] });

const envelope = (result: object): Behaviour => json(200, { result, success: true, errors: [], messages: [] });

const pieces = ['Hello', ' there.'].map((response) => `data: ${JSON.stringify({ response, p: 'abc' })}\n\n`);
const runUsage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };

/** By the name of the model, below the account's address. */
const cloudflareModels: Record<string, Behaviour> = {
  '@cf/meta/llama-3-8b': (call, response) =>
    call.json.stream
      ? stream([...pieces, `data: ${JSON.stringify({ response: '', usage: runUsage })}\n\n`, 'data: [DONE]\n\n'])(
          call,
          response,
        )
      : envelope({ response: 'Hello there.', usage: runUsage })(call, response),
  '@cf/black-forest-labs/flux-1-schnell': envelope({ image: pictureBase64 }),
  '@cf/stabilityai/stable-diffusion-xl-base-1.0': pictureAt,
  '@cf/openai/whisper': envelope({
    text: 'Hello there.',
    word_count: 2,
    words: [
      { word: 'Hello', start: 0.1, end: 0.5 },
      { word: 'there.', start: 0.6, end: 1.25 },
    ],
  }),
  '@cf/openai/whisper-large-v3-turbo': envelope({
    text: 'Hello there.',
    transcription_info: { language: 'en', duration: 3.2 },
    segments: [{ start: 0.1, end: 1.25, text: 'Hello there.', words: [{ word: 'Hello', start: 0.1, end: 0.5 }] }],
  }),
};

export const workersAiApi =
  (key: string): Behaviour =>
  (call, response) => {
    if (call.headers.authorization !== `Bearer ${key}`)
      return cloudflareRefusal(401, 10000, 'Authentication error')(call, response);
    const [, below = ''] = /^\/accounts\/acc-1\/ai(\/.*)$/.exec(call.path) ?? [];
    if (below === '/v1/chat/completions') {
      return call.json.stream
        ? stream(wholeStream(['Hello', ' there.']))(call, response)
        : json(200, completion('Hello there.', call.json.model))(call, response);
    }
    if (below === '/v1/embeddings') {
      const data = call.json.input.map((text: string, index: number) => ({
        object: 'embedding',
        index,
        embedding: [text.length, 0.5],
      }));
      return json(200, { object: 'list', data, model: call.json.model, usage: { prompt_tokens: 3, total_tokens: 3 } })(
        call,
        response,
      );
    }
    const run = cloudflareModels[below.replace('/run/', '')];
    return (run ?? cloudflareRefusal(400, 7000, 'No route for that URI'))(call, response);
  };

const watsonRefusal = (status: number, code: string, message: string): Behaviour =>
  json(status, { errors: [{ code, message, more_info: 'https://cloud.ibm.com' }], trace: 't-1', status_code: status });

/** Tokens are counted up; what was read is told once. */
const generated = [
  { generated_text: '', generated_token_count: 0, input_token_count: 2, stop_reason: 'not_finished' },
  { generated_text: ' the', generated_token_count: 1, input_token_count: 0, stop_reason: 'not_finished' },
  { generated_text: 're.', generated_token_count: 3, input_token_count: 0, stop_reason: 'eos_token' },
];

const generationEvent = (result: object, id: number): string =>
  `id: ${id}\nevent: message\ndata: ${JSON.stringify({ model_id: 'm', created_at: '2026-01-01T00:00:00Z', results: [result] })}\n\n`;

const watsonRoutes: Record<string, Behaviour | undefined> = {
  'POST /ml/v1/text/chat': (call, response) => {
    const { object: _, model, ...answer } = completion('Hello there.', call.json.model_id);
    return json(200, { ...answer, model_id: model, model_version: '1.0' })(call, response);
  },
  'POST /ml/v1/text/chat_stream': stream(
    wholeStream(['Hello', ' there.'])
      .slice(0, -1)
      .map((part, id) => `id: ${id}\nevent: message\n${part}`),
  ),
  'POST /ml/v1/text/generation': json(200, {
    model_id: 'm',
    results: [{ generated_text: ' there.', generated_token_count: 3, input_token_count: 2, stop_reason: 'eos_token' }],
  }),
  'POST /ml/v1/text/generation_stream': stream(generated.map((result, id) => generationEvent(result, id + 1))),
  'POST /ml/v1/text/embeddings': (call, response) =>
    json(200, {
      results: call.json.inputs.map((text: string) => ({ embedding: [text.length, 0.5] })),
      input_token_count: 4,
    })(call, response),
  'POST /ml/v1/text/rerank': json(200, {
    results: [
      { index: 0, score: -2.5 },
      { index: 1, score: 4.5 },
    ],
    input_token_count: 9,
  }),
  'GET /ml/v1/foundation_model_specs': json(200, { resources: [{ model_id: 'ibm/granite-3', provider: 'IBM' }] }),
};

export const watsonxApi =
  (authorization: string): Behaviour =>
  (call, response) => {
    const { pathname, searchParams } = new URL(call.path, 'http://watsonx.invalid');
    if (call.headers.authorization !== authorization)
      return watsonRefusal(401, 'authentication_token_not_valid', 'Failed to authenticate')(call, response);
    if (!/^\d{4}-\d\d-\d\d$/.test(searchParams.get('version') ?? ''))
      return watsonRefusal(400, 'invalid_request', 'version is missing')(call, response);
    if (call.method === 'POST' && !(call.json.project_id && call.json.model_id)) {
      return watsonRefusal(
        400,
        'json_validation_error',
        'Json document validation error: project_id or space_id',
      )(call, response);
    }
    if (call.json?.stream !== undefined || typeof call.json?.tool_choice === 'string') {
      return watsonRefusal(400, 'json_type_error', 'Json field type error')(call, response);
    }
    return (watsonRoutes[`${call.method} ${pathname}`] ?? watsonRefusal(404, 'not_found', 'not found'))(call, response);
  };

/** OpenAI's dialect beside the host's own, for streams. */
const streams =
  (path: string, authorization: string): Behaviour =>
  (call, response) => {
    if (call.headers.authorization !== authorization) return json(401, { detail: 'Invalid API key' })(call, response);
    if (call.path !== path || !call.json.stream) return json(404, { detail: 'Not found' })(call, response);
    const { stream_options, max_completion_tokens } = call.json;
    if (max_completion_tokens) return json(422, { detail: 'Unknown field: max_completion_tokens' })(call, response);
    const parts = wholeStream(['Hello', ' there.']);
    return stream(stream_options ? parts : parts.filter((part) => part !== usage))(call, response);
  };

export const rekaApi = (key: string): Behaviour => {
  const streaming = streams('/v1/chat/completions', `Bearer ${key}`);
  return (call, response) => {
    if (call.path.startsWith('/v1/')) return streaming(call, response);
    const known = call.headers['x-api-key'] === key;
    return (
      known
        ? json(200, {
            type: 'model',
            text: 'Hello there.',
            finish_reason: 'stop',
            metadata: { input_tokens: 5, generated_tokens: 3 },
          })
        : json(401, { detail: 'Invalid API key' })
    )(call, response);
  };
};

export const bytezApi = (key: string): Behaviour => {
  const streaming = streams('/models/v2/openai/v1/chat/completions', `Key ${key}`);
  return (call, response) => {
    if (call.path.startsWith('/models/v2/openai/')) return streaming(call, response);
    const known = call.headers.authorization === `Key ${key}`;
    return (
      known
        ? json(200, { error: null, output: { role: 'assistant', content: 'Hello there.' } })
        : json(401, { error: 'Unauthorized', output: null })
    )(call, response);
  };
};

const tritonPiece = (text_output: string): object => ({ model_name: 'm', model_version: '1', text_output });

/** A model makes its pieces only when it is told to. */
export const tritonApi: Behaviour = (call, response) => {
  const streaming = call.path.endsWith('/generate_stream');
  if (!streaming) return json(200, tritonPiece(' there.'))(call, response);
  const pieces = call.json.stream ? [' the', 're.'] : [' there.'];
  return stream(pieces.map((piece) => `data: ${JSON.stringify(tritonPiece(piece))}\n\n`))(call, response);
};

export const ai21Api =
  (key: string): Behaviour =>
  (call, response) => {
    if (call.headers.authorization !== `Bearer ${key}`)
      return json(401, { detail: 'Forbidden: Bad or missing Apikey/JWT.' })(call, response);
    if (call.path === '/v1/embed') {
      return json(200, {
        id: 'e',
        results: call.json.texts.map((text: string) => ({ embedding: [text.length, 0.5] })),
      })(call, response);
    }
    if (typeof call.json.stop === 'string')
      return json(422, { detail: [{ loc: ['body', 'stop'], msg: 'value is not a valid list', type: 'type_error' }] })(
        call,
        response,
      );
    return json(200, completion('Hello there.', call.json.model))(call, response);
  };
