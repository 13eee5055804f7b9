/** What a target may say for its provider alone: account, region, deployment, ways to authenticate. The provider gives these words their meaning. */
import { z } from 'zod';

const text = z.string().min(1).max(2_048);
/** Keys, tokens and certificates. */
const secret = z.string().min(1).max(16_384);
const flag = z.boolean();
const flagOrText = z.union([z.boolean(), text]);

const openai = { openai_organization: text, openai_project: text, openai_beta: text };

const azureDeployment = z.strictObject({
  deployment_id: text,
  alias: text.optional(),
  api_version: text.optional(),
  is_default: z.boolean().optional(),
});

const azure = {
  resource_name: text,
  azure_resource_name: text,
  deployment_id: text,
  azure_deployment_id: text,
  api_version: text,
  azure_api_version: text,
  deployments: z.array(azureDeployment).min(1).max(200),
  azure_model_name: text,
  azure_auth_mode: z.enum(['apiKey', 'default', 'entra', 'managed', 'workload', 'entraFederated']),
  azure_ad_token: secret,
  azure_managed_client_id: text,
  azure_workload_client_id: text,
  azure_workload_tenant_id: text,
  azure_entra_client_id: text,
  azure_entra_client_secret: secret,
  azure_entra_tenant_id: text,
  azure_foundry_url: text,
  azure_endpoint_name: text,
  azure_region: text,
  azure_deployment_name: text,
  azure_deployment_type: z.enum(['serverless', 'managed']),
  azure_extra_parameters: text,
  azure_extra_params: text,
};

const aws = {
  aws_access_key_id: text,
  aws_secret_access_key: secret,
  aws_session_token: secret,
  aws_region: text,
  aws_auth_type: z.enum(['accessKey', 'assumedRole', 'serviceRole', 'apiKey']),
  aws_role_arn: text,
  aws_external_id: text,
  aws_session_tags: z.record(z.string().min(1).max(128), z.string().max(256)),
  aws_s3_bucket: text,
  aws_s3_object_key: text,
  aws_bedrock_model: text,
  aws_server_side_encryption: text,
  aws_server_side_encryption_kms_key_id: text,
  aws_service: text,
  foundation_model: text,
  endpoint_domain: text,
  amzn_sagemaker_custom_attributes: text,
  amzn_sagemaker_target_model: text,
  amzn_sagemaker_target_variant: text,
  amzn_sagemaker_target_container_hostname: text,
  amzn_sagemaker_inference_id: text,
  amzn_sagemaker_enable_explanations: text,
  amzn_sagemaker_inference_component: text,
  amzn_sagemaker_session_id: text,
  amzn_sagemaker_model_name: text,
};

const vertex = {
  vertex_project_id: text,
  vertex_region: text,
  vertex_service_account_json: z.union([z.record(z.string().max(256), z.unknown()), secret]),
  vertex_auth_type: z.enum(['basic', 'serviceAccount', 'workloadIdentity']),
  vertex_storage_bucket_name: text,
  vertex_model_name: text,
  vertex_batch_endpoint: text,
  vertex_skip_ptu_cost_attribution: flag,
  vertex_map_metadata: flag,
  filename: text,
};

const oracle = {
  oracle_api_version: text,
  oracle_region: text,
  oracle_compartment_id: text,
  oracle_serving_mode: z.enum(['ON_DEMAND', 'DEDICATED']),
  oracle_tenancy: text,
  oracle_user: text,
  oracle_fingerprint: text,
  oracle_private_key: secret,
  oracle_key_passphrase: secret,
};

const watsonx = {
  watsonx_url: text,
  watsonx_project_id: text,
  watsonx_space_id: text,
  watsonx_deployment_id: text,
  watsonx_api_version: text,
  watsonx_zen_api_key: secret,
};

const others = {
  anthropic_version: text,
  anthropic_api_key: secret,
  anthropic_inspect_stream_for_overloaded_error: flag,
  anthropic_aws_workspace_id: text,
  workers_ai_account_id: text,
  huggingface_base_url: text,
  stability_client_id: text,
  stability_client_user_id: text,
  stability_client_version: text,
  fireworks_account_id: text,
  fireworks_file_length: z.union([z.int().min(0), text]),
  snowflake_account: text,
  databricks_workspace: text,
  databricks_serving_endpoint_name: text,
  byteplus_region: text,
  mistral_fim_completion: flagOrText,
  gigachat_scope: text,
  predibase_tenant: text,
  snowflake_token_type: text,
  modal_key: secret,
  modal_secret: secret,
  scenario_api_secret: secret,
  elevenlabs_voice_ids: z.record(z.string().min(1).max(128), z.string().max(128)),
};

/** Belong to one target, like its provider and its credential. */
export const targetFields = z
  .object({ ...openai, ...azure, ...aws, ...vertex, ...oracle, ...watsonx, ...others })
  .partial();

/** Options that a config may set once for all targets below. */
export const inheritedFields = z.object({ azure_entra_scope: text, anthropic_beta: text }).partial();
