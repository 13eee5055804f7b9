/** Azure AI Foundry: models of many vendors in OpenAI's dialect. */
import { chatHost, standsAt } from '../chat-host.ts';
import type { MatrixFamily } from '../family.ts';

export const azureAi: MatrixFamily = chatHost({
  name: 'Azure AI Foundry',
  provider: 'azure-ai',
  model: 'DeepSeek-R1',
  address: (url) => `${new URL(url).origin}/models`,
  settings: { azure_auth_mode: 'default', azure_foundry_url: 'https://res.services.ai.azure.com/models' },
  serves: standsAt('/models/chat/completions?api-version=2024-05-01-preview', 'api-key', 'sk-target-secret'),
});
