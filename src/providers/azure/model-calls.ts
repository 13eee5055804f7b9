/** The paths of Azure that ask a model: for these alone the gateway's own identity is lent to what passes through. */
import type { Provider } from '../provider.ts';

type Calls = NonNullable<Provider['modelCalls']>;

const openAi =
  '(?:chat/completions|completions|embeddings|responses|images/(?:generations|edits|variations)|audio/(?:speech|transcriptions|translations))';
/** Before them stands a deployment, or the version of the API that needs none. */
const openAiPath = `/openai/(?:deployments/[^/]+/|v1/)?${openAi}`;

export const openAiCalls: Calls = {
  POST: new RegExp(`${openAiPath}$`, 'i'),
  GET: /\/openai\/(?:v1\/)?models(?:\/[^/]+)?$/i,
};

/** Beside OpenAI's there are the inference API, endpoints of one model, and the APIs of Anthropic, Cohere and Mistral. */
export const foundryCalls: Calls = {
  POST: new RegExp(
    [
      openAiPath,
      '/(?:chat/completions|completions|embeddings|images/embeddings|images/generations|rerank|ocr)',
      '/score',
      '/anthropic/v1/messages(?:/count_tokens)?',
      '/providers/cohere/v\\d/(?:rerank|embed|chat)',
      '/providers/mistral/azure/ocr',
    ]
      .map((path) => `(?:${path})$`)
      .join('|'),
    'i',
  ),
  GET: /\/info$|\/openai\/(?:v1\/)?models(?:\/[^/]+)?$/i,
};
