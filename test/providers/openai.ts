/** OpenAI's words: answers, streams and errors as its API sends them. */
import { type Behaviour, json, stream } from './simulated.ts';

const created = 1_760_000_000;

export const completion = (text: string, model = 'gpt-4o-mini') => ({
  id: 'chatcmpl-Bq1',
  object: 'chat.completion',
  created,
  model,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: text, refusal: null, annotations: [] },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: {
    prompt_tokens: 20,
    completion_tokens: 10,
    total_tokens: 30,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  },
  service_tier: 'default',
  system_fingerprint: 'fp_1',
});

const chunk = (delta: object, finish: string | null = null, id = 'chatcmpl-Bq1') =>
  `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model: 'gpt-4o-mini', service_tier: 'default', system_fingerprint: 'fp_1', choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] })}\n\n`;

export const opening = chunk({ role: 'assistant', content: '', refusal: null });
export const part = (content: string, id?: string) => chunk({ content }, null, id);
export const finish = chunk({}, 'stop');
export const usage = `data: ${JSON.stringify({ id: 'chatcmpl-Bq1', object: 'chat.completion.chunk', created, model: 'gpt-4o-mini', choices: [], usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 } })}\n\n`;
export const done = 'data: [DONE]\n\n';

/** All parts of a stream that says these words. */
export const wholeStream = (words: readonly string[]): string[] => [
  opening,
  ...words.map((word) => part(word)),
  finish,
  usage,
  done,
];

/** Answers as asked: a stream when the call wants one, else the whole. */
export const says =
  (...words: string[]): Behaviour =>
  (call, response) =>
    call.json?.stream
      ? stream(wholeStream(words))(call, response)
      : json(200, completion(words.join('')))(call, response);

const error = (message: string, type: string, code: string | null) => ({ error: { message, type, param: null, code } });

export const rateLimited = (headers: Record<string, string> = {}): Behaviour =>
  json(429, error('Rate limit reached for gpt-4o-mini', 'requests', 'rate_limit_exceeded'), headers);
export const serverError: Behaviour = json(
  500,
  error('The server had an error while processing your request.', 'server_error', null),
);
export const unavailable: Behaviour = json(
  503,
  error('The engine is currently overloaded, please try again later', 'server_error', null),
);
export const contextOverflow: Behaviour = json(
  400,
  error("This model's maximum context length is 128000 tokens.", 'invalid_request_error', 'context_length_exceeded'),
);
export const contentRefusal: Behaviour = json(
  400,
  error(
    'Your request was rejected as a result of our safety system.',
    'invalid_request_error',
    'content_policy_violation',
  ),
);
