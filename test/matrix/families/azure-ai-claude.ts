/** Claude on Azure AI Foundry: Anthropic's messages, but the form of an answer is a tool's. */
import { failure } from '../../providers/anthropic.ts';
import { azureAi } from '../../providers/azure-ai.ts';
import type { MatrixFamily } from '../family.ts';
import { anthropic, formedByTool, messageOf, scriptFor } from './anthropic.ts';

export const claudeOnAzure: MatrixFamily = {
  ...anthropic,
  name: 'Claude on Azure AI Foundry',
  provider: 'azure-ai',
  address: (url) => `${new URL(url).origin}/models`,
  settings: { azure_auth_mode: 'default', azure_foundry_url: 'https://res.services.ai.azure.com/models' },
  does: (script) =>
    script.fails
      ? failure(script.fails.status, 'rate_limit_error', script.fails.message)
      : (call, response) => azureAi('sk-target-secret', messageOf(scriptFor(script, call.json)))(call, response),
  asked: { ...anthropic.asked, 'structured output': formedByTool },
};
