/** A resource of Azure OpenAI: deployments in the path of dated versions and in the body of v1, a content filter in every answer, and keys or tokens at its door. */
import * as api from './openai-api.ts';
import { type Behaviour, json, type ReceivedCall, stream } from './simulated.ts';

const safe = { filtered: false, severity: 'safe' };
const verdict = { hate: safe, self_harm: safe, sexual: safe, violence: safe };
export const promptVerdict = [
  { prompt_index: 0, content_filter_results: { ...verdict, jailbreak: { filtered: false, detected: false } } },
];
export const answerVerdict = { ...verdict, protected_material_text: { filtered: false, detected: false } };

const created = 1_760_000_000;
const model = 'gpt-4o-mini-2024-07-18';
const usage = {
  prompt_tokens: 20,
  completion_tokens: 10,
  total_tokens: 30,
  prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
};

const message = (body: ReceivedCall['json']) =>
  body.tools
    ? {
        message: {
          role: 'assistant',
          content: null,
          refusal: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
        },
        finish_reason: 'tool_calls',
      }
    : { message: { role: 'assistant', content: 'Hello there.', refusal: null }, finish_reason: 'stop' };

const completion: Behaviour = (call, response) =>
  json(200, {
    id: 'chatcmpl-az1',
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, ...message(call.json), logprobs: null, content_filter_results: answerVerdict }],
    prompt_filter_results: promptVerdict,
    usage,
    system_fingerprint: 'fp_1',
  })(call, response);

const chunk = (fields: object) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-az1', object: 'chat.completion.chunk', created, model, system_fingerprint: 'fp_1', ...fields })}\n\n`;
const delta = (delta: object, finish_reason: string | null, more: object = {}) =>
  chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason, ...more }] });

/** The verdict on the prompt comes first, in a chunk without an id and without choices. */
const chunks = (body: ReceivedCall['json']): string[] => [
  `data: ${JSON.stringify({ id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: promptVerdict })}\n\n`,
  delta({ role: 'assistant', content: '', refusal: null }, null, { content_filter_results: {} }),
  delta({ content: 'Hello' }, null, { content_filter_results: verdict }),
  delta({ content: ' there.' }, null, { content_filter_results: verdict }),
  delta({}, 'stop', { content_filter_results: {} }),
  ...(body.stream_options?.include_usage ? [chunk({ choices: [], usage })] : []),
  'data: [DONE]\n\n',
];

const chat: Behaviour = (call, response) =>
  call.json.stream ? stream(chunks(call.json))(call, response) : completion(call, response);

const refusal = (status: number, code: string, message: string): Behaviour =>
  json(status, { error: { code, message } });

export const filtered: Behaviour = json(400, {
  error: {
    message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
    type: null,
    param: 'prompt',
    code: 'content_filter',
    status: 400,
    innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: verdict },
  },
});

const job = { ...api.job, status: 'pending' };

/** Routes whose answers differ from OpenAI's own. */
const own: Record<string, Behaviour> = {
  'POST /chat/completions': chat,
  'POST /completions': (call, response) =>
    json(200, {
      id: 'cmpl-1',
      object: 'text_completion',
      created,
      model,
      choices: [{ index: 0, text: ' there.', finish_reason: 'stop', logprobs: null, content_filter_results: verdict }],
      prompt_filter_results: promptVerdict,
      usage,
    })(call, response),
  'POST /responses': json(200, { id: 'resp_1', object: 'response', status: 'completed', model, output: [] }),
  'POST /fine_tuning/jobs': json(201, job),
  'GET /fine_tuning/jobs': json(200, { object: 'list', data: [job], has_more: false }),
  'GET /fine_tuning/jobs/ftjob-1': json(200, job),
  'POST /fine_tuning/jobs/ftjob-1/cancel': json(200, { ...job, status: 'cancelled' }),
  'GET /batches/batch_1': json(200, { ...api.batch, status: 'completed', output_file_id: 'file-1' }),
};

/** Operations on a deployment; all others are on the resource. */
const onDeployments = /^POST \/(chat\/completions|completions|embeddings|images\/|audio\/)/;

const deployments = new Set(['chat-prod', 'embed-prod', 'speech-prod']);

export const azureOpenAi =
  ({ key, token }: { key: string; token: string }): Behaviour =>
  (call, response) => {
    const authorised = call.headers['api-key'] === key || call.headers.authorization === `Bearer ${token}`;
    if (!authorised) {
      return refusal(
        401,
        '401',
        'Access denied due to invalid subscription key or wrong API endpoint.',
      )(call, response);
    }
    return answer(call, response);
  };

const notFound = refusal(404, '404', 'Resource not found');
const noDeployment = refusal(404, 'DeploymentNotFound', 'The API deployment for this resource does not exist.');

const answer: Behaviour = (call, response) => {
  const { pathname, searchParams } = new URL(call.path, 'http://resource.invalid');
  const placed = /^\/openai(\/v1)?(?:\/deployments\/([^/]+))?(\/.*)$/.exec(pathname);
  const [, undated, deployment, path = ''] = placed ?? [];
  const route = `${call.method} ${path}`;
  // A dated version is asked for in the query, v1 in the path; never both.
  if (!placed || Boolean(undated) === searchParams.has('api-version')) return notFound(call, response);
  if (onDeployments.test(route)) {
    const name = undated ? (call.json?.model ?? formField(call, 'model')) : deployment;
    if (Boolean(undated) === (deployment !== undefined)) return notFound(call, response);
    if (!deployments.has(name)) return noDeployment(call, response);
  } else if (deployment) return notFound(call, response);
  const answers = own[route] ?? api.openAiApi;
  return answers({ ...call, path }, response);
};

const formField = ({ body }: ReceivedCall, name: string): string =>
  new RegExp(`name="${name}"\r\n\r\n([^\r]*)`).exec(body.toString('latin1'))?.[1] ?? '';
