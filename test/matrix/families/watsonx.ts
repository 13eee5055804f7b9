/** IBM watsonx.ai. */
import type { Json } from '../../harness.ts';
import { type Behaviour, json } from '../../providers/simulated.ts';
import { asOpenAi, chatHost } from '../chat-host.ts';
import type { MatrixFamily } from '../family.ts';

const version = '?version=2025-02-06';
const zenKey = 'dTpr';
const project = 'proj';

const refusal = (status: number, code: string, message: string): Behaviour =>
  json(status, { errors: [{ code, message, more_info: 'https://cloud.ibm.com' }], trace: 't-1', status_code: status });

/** What OpenAI's API would be asked: the address tells whether to stream, and usage is told always. */
function opened(
  { model_id: model, project_id, tool_choice_option: tool_choice, ...body }: Json,
  streams: boolean,
): Json {
  return { ...body, model, ...(tool_choice && { tool_choice }), ...(streams && { stream: true, stream_options }) };
}
const stream_options = { include_usage: true };

export const watsonx: MatrixFamily = chatHost({
  name: 'watsonx.ai',
  provider: 'watsonx',
  model: 'openai/gpt-oss-120b',
  address: (url) => new URL(url).origin,
  settings: { watsonx_zen_api_key: zenKey, watsonx_project_id: project },
  asks: ({ model: model_id, max_completion_tokens: max_tokens, tool_choice: tool_choice_option, ...body }) => ({
    ...body,
    path: '/ml/v1/text/chat',
    model_id,
    project_id: project,
    max_tokens,
    ...(tool_choice_option && { tool_choice_option }),
  }),
  received: ({ path, json: body }) => ({ path: path.replace(version, ''), ...body }),
  streamed: (body) => ({ ...body, path: '/ml/v1/text/chat_stream' }),
  serves: (chatting) => (call, response) => {
    const streams = call.path === `/ml/v1/text/chat_stream${version}`;
    if (!streams && call.path !== `/ml/v1/text/chat${version}`) {
      return refusal(404, 'not_found', `Nothing at ${call.path}`)(call, response);
    }
    if (call.headers.authorization !== `ZenApiKey ${zenKey}`) {
      return refusal(401, 'authentication_token_not_valid', 'Failed to authenticate')(call, response);
    }
    const { stream, stream_options: options, tool_choice, model, project_id } = call.json;
    if (project_id !== project || [stream, options, tool_choice, model].some((field) => field !== undefined)) {
      return refusal(400, 'json_validation_error', 'Json document validation error')(call, response);
    }
    return chatting(asOpenAi(call, opened(call.json, streams)), response);
  },
  fails: (status, message) => refusal(status, 'rate_limit_reached_requests', message),
});
