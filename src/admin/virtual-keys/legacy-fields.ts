/** The camelCase fields in which virtual keys write the settings of their provider, as configurations of an integration. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { customHeaders, customHost } from '../integrations/upstream-overrides.ts';

const text = lazy(() => z.string().trim().min(1).max(2_048).nullish());
const secret = lazy(() => z.string().min(1).max(16_384).nullish());

const deployment = () =>
  z.object({
    apiVersion: z.string().min(1).max(30),
    deploymentName: z.string().trim().min(1).max(2_048),
    alias: text(),
    azure_model_slug: text().describe(
      'The model that is deployed; the alias or the name of the deployment where it is left out',
    ),
    is_default: z.boolean().nullish(),
  });
type Deployment = z.output<ReturnType<typeof deployment>>;

export const deploymentConfig = lazy(() => z.array(deployment()).min(1).max(200).nullish());

/** Our name for each field that is no more than another spelling. */
const spellings = [
  ['resourceName', 'azure_resource_name'],
  ['azureAuthMode', 'azure_auth_mode'],
  ['azureEntraClientId', 'azure_entra_client_id'],
  ['azureEntraClientSecret', 'azure_entra_client_secret'],
  ['azureEntraTenantId', 'azure_entra_tenant_id'],
  ['azureManagedClientId', 'azure_managed_client_id'],
  ['awsAccessKeyId', 'aws_access_key_id'],
  ['awsSecretAccessKey', 'aws_secret_access_key'],
  ['awsRegion', 'aws_region'],
  ['awsAuthType', 'aws_auth_type'],
  ['awsRoleArn', 'aws_role_arn'],
  ['awsExternalId', 'aws_external_id'],
  ['vertexProjectId', 'vertex_project_id'],
  ['vertexRegion', 'vertex_region'],
  ['vertexServiceAccountJson', 'vertex_service_account_json'],
  ['vertexAuthType', 'vertex_auth_type'],
  ['vertexSkipPtuCostAttribution', 'vertex_skip_ptu_cost_attribution'],
  ['workersAiAccountId', 'workers_ai_account_id'],
  ['customHost', 'custom_host'],
  ['customHeaders', 'custom_headers'],
] as const;

const oldNames: ReadonlyMap<string, string> = new Map([
  ...spellings.map(([old, name]): [string, string] => [name, old]),
  ['azure_deployment_config', 'deploymentConfig'],
]);

/** The field that carries a setting, for refusals. */
export const legacyName = (setting: string): string => oldNames.get(setting) ?? setting;

const flatObject = () =>
  z.record(z.string().min(1).max(128), z.union([z.string().max(16_384), z.number(), z.boolean()]));

export const legacyFields = lazy(
  () =>
    ({
      resourceName: text(),
      azureAuthMode: text(),
      azureEntraClientId: text(),
      azureEntraClientSecret: secret(),
      azureEntraTenantId: text(),
      azureManagedClientId: text(),
      awsAccessKeyId: text(),
      awsSecretAccessKey: secret(),
      awsRegion: text(),
      awsAuthType: text(),
      awsRoleArn: text(),
      awsExternalId: text(),
      vertexProjectId: text(),
      vertexRegion: text(),
      vertexServiceAccountJson: z.union([flatObject(), z.string().min(1).max(16_384)]).nullish(),
      vertexAuthType: text(),
      vertexSkipPtuCostAttribution: z.boolean().nullish(),
      workersAiAccountId: text(),
      customHost: customHost().nullish(),
      customHeaders: customHeaders().nullish(),
      apiVersion: z.string().min(1).max(30).nullish().describe('With deploymentName: the one deployment'),
      deploymentName: text(),
      deploymentConfig: deploymentConfig(),
    }) satisfies Record<(typeof spellings)[number][0], z.ZodType> & Record<string, z.ZodType>,
);

type LegacyFields = { [N in keyof ReturnType<typeof legacyFields>]?: z.output<ReturnType<typeof legacyFields>[N]> };

/** The same settings as configurations; a way to authenticate that old clients never named is the one they meant. */
export function asConfigurations(provider: string, sent: LegacyFields): Record<string, unknown> {
  const configurations: Record<string, unknown> = {};
  for (const [old, name] of spellings) {
    const value = sent[old];
    if (value !== undefined && value !== null) configurations[name] = value;
  }
  const deployments = deploymentsOf(sent);
  if (deployments) configurations.azure_deployment_config = deployments.map(asDeployment);
  return { ...impliedMode(provider, sent), ...configurations };
}

export const asDeployment = ({ apiVersion, deploymentName, alias, azure_model_slug, is_default }: Deployment) => ({
  azure_api_version: apiVersion,
  azure_deployment_name: deploymentName,
  azure_model_slug: azure_model_slug ?? alias ?? deploymentName,
  ...(alias && { alias }),
  is_default: is_default ?? false,
});

function deploymentsOf({ deploymentConfig, apiVersion, deploymentName }: LegacyFields): Deployment[] | null {
  if (deploymentConfig) return deploymentConfig;
  return apiVersion && deploymentName ? [{ apiVersion, deploymentName }] : null;
}

function impliedMode(provider: string, sent: LegacyFields): Record<string, string> {
  switch (provider) {
    case 'azure-openai':
    case 'azure-ai':
      return { azure_auth_mode: 'default' };
    case 'bedrock':
    case 'sagemaker':
      return { aws_auth_type: sent.awsRoleArn ? 'assumedRole' : 'accessKey' };
    case 'vertex-ai':
      return { vertex_auth_type: sent.vertexServiceAccountJson ? 'serviceAccount' : 'basic' };
    default:
      return {};
  }
}
