/** Azure OpenAI: deployments in the address, a filter's verdicts in every answer, and responses of its own. */
import type { Json } from '../../harness.ts';
import { answerVerdict, promptVerdict } from '../../providers/azure.ts';
import { type ChatScript, chunksOf, completionOf, guarded } from '../../providers/chat-api.ts';
import { responds } from '../../providers/responses-api.ts';
import { type Behaviour, json, stream } from '../../providers/simulated.ts';
import type { Script } from '../cells.ts';
import { chatHost, chatScript, responseScript, standsAt } from '../chat-host.ts';
import type { MatrixFamily } from '../family.ts';

const model = 'gpt-5-mini';
const version = '2025-04-01-preview';
const secret = 'sk-target-secret';

const host = chatHost({
  name: 'Azure OpenAI',
  provider: 'azure-openai',
  model,
  address: (url) => `${new URL(url).origin}/openai`,
  settings: {
    azure_auth_mode: 'default',
    azure_resource_name: 'res',
    azure_deployment_config: [
      { azure_deployment_name: model, azure_api_version: version, azure_model_slug: model, is_default: true },
    ],
  },
  fails: (status, message) => json(status, { error: { code: String(status), message } }),
});

/** The verdict on the prompt comes first, in a chunk without an id and without choices. */
const verdictChunk = `data: ${JSON.stringify({ id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: promptVerdict })}\n\n`;

const judged = (answer: Json): Json => ({
  ...answer,
  choices: answer.choices.map((choice: Json) => ({ ...choice, content_filter_results: answerVerdict })),
});

const judgedChunk = (chunk: string): string =>
  chunk.includes('[DONE]') ? chunk : `data: ${JSON.stringify(judged(JSON.parse(chunk.slice('data: '.length))))}\n\n`;

const filtered = (script: ChatScript): Behaviour =>
  guarded((call, response) =>
    call.json.stream
      ? stream([verdictChunk, ...chunksOf(script, call.json).map(judgedChunk)])(call, response)
      : json(200, { ...judged(completionOf(script, model)), prompt_filter_results: promptVerdict })(call, response),
  );

const chatting = standsAt(`/openai/deployments/${model}/chat/completions?api-version=${version}`, 'api-key', secret);
const responding = standsAt(`/openai/responses?api-version=${version}`, 'api-key', secret);

/** What was thought is shown in no chat, and in responses to those who ask for it. */
function answered({ thought, ...shown }: Script): Behaviour {
  const chat = chatting(filtered(chatScript(shown)));
  const responses = responding(responds(responseScript({ ...shown, ...(thought && { thought }) })));
  return (call, response) => (call.path.startsWith('/openai/responses') ? responses : chat)(call, response);
}

export const azureOpenAi: MatrixFamily = {
  ...host,
  speaks: ['chat', 'responses'],
  does: (script) => (script.fails ? host.does(script) : answered(script)),
  tells: (told) => ({ ...told, thought: '' }),
};
