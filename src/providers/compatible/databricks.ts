/** Databricks: its AI gateway, or one serving endpoint for every call. */
import { withoutForeignThoughts } from '../anthropic/foreign-thoughts.ts';
import { openAiCompatible } from '../openai-compatible.ts';
import type { CallFacts, OfferedEndpoint } from '../provider.ts';
import { hostLabel, setting } from '../settings.ts';
import { contentAsText } from './quirks/answers.ts';
import { chat } from './quirks/chat.ts';
import { nameOnToolsOnly } from './quirks/messages.ts';
import { messagesAt } from './quirks/messages-endpoint.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';
import { inPath } from './quirks/paths.ts';

const invocations = ({ fields }: CallFacts): string | null => {
  const name = setting(fields, 'databricks_serving_endpoint_name');
  return name && `/serving-endpoints/${inPath(name)}/invocations`;
};

const messages = { ...messagesAt('/ai-gateway/anthropic/v1/messages'), adjust: withoutForeignThoughts };

/** Only models of Anthropic have this dialect; the others are asked by chat. */
const messagesOfClaude: OfferedEndpoint = (facts) =>
  invocations(facts) === null && facts.model.includes('claude') ? messages : null;

export const databricks = openAiCompatible({
  id: 'databricks',
  name: 'Databricks',
  address: ({ fields }) => `https://${hostLabel(fields, 'databricks_workspace')}.cloud.databricks.com`,
  endpoints: {
    chatComplete: chat({
      path: (facts) => invocations(facts) ?? '/ai-gateway/mlflow/v1/chat/completions',
      takes: { cacheMarks: true },
      asks: [limitAsMaxTokens, nameOnToolsOnly],
      answers: [contentAsText],
    }),
    messages: messagesOfClaude,
    embed: { path: (facts) => invocations(facts) ?? '/serving-endpoints/embeddings' },
  },
  fields: [
    {
      name: 'databricks_workspace',
      required: true,
      about: 'The workspace, such as dbc-a1b2345c-d6e7; on Azure or Google save its whole address as custom_host.',
    },
    {
      name: 'databricks_serving_endpoint_name',
      about: 'A serving endpoint that every call goes to; without it, calls go to the AI gateway.',
    },
  ],
});
