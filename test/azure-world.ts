/** A simulated resource of Azure OpenAI behind a gateway. */
import { azureOpenAi } from './providers/azure.ts';
import { type SimulatedProvider, startProvider } from './providers/simulated.ts';
import { startWorld, type World } from './world.ts';

export const simulated = azureOpenAi({ key: 'sk-azure-secret', token: 'entra-token' });
export const version = '2024-10-21';

export async function startAzure(): Promise<{ resource: SimulatedProvider; host: string; world: World }> {
  const resource = await startProvider(simulated);
  const host = resource.url.replace(/\/v1$/, '/openai');
  const world = await startWorld({});
  const deployments = [
    {
      azure_deployment_name: 'chat-prod',
      azure_api_version: version,
      azure_model_slug: 'gpt-4o-mini',
      is_default: true,
    },
    {
      azure_deployment_name: 'embed-prod',
      azure_api_version: 'v1',
      azure_model_slug: 'text-embedding-3-small',
      alias: 'vectors',
    },
    { azure_deployment_name: 'speech-prod', azure_api_version: 'v1', azure_model_slug: 'whisper' },
    { azure_deployment_name: 'deep-prod', azure_api_version: version, azure_model_slug: 'o3-pro' },
  ];
  const configurations = {
    custom_host: host,
    azure_auth_mode: 'default',
    azure_resource_name: 'res',
    azure_deployment_config: deployments,
  };
  await world.saveProvider('azure', 'azure-openai', resource, { configurations });
  return { resource, host, world };
}

export const messages = [{ role: 'user' as const, content: 'Hello' }];
