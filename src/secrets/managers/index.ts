/** Every secret manager, by the name that references call it. */
import type { ManagerType, SecretManager } from '../manager.ts';
import { awsSecretsManager } from './aws.ts';
import { azureKeyVault } from './azure.ts';
import { googleSecretManager } from './google.ts';
import { environmentSecrets, fileSecrets } from './local.ts';
import { hashicorpVault } from './vault.ts';

export const managers: Readonly<Record<ManagerType, SecretManager>> = {
  aws_sm: awsSecretsManager,
  azure_kv: azureKeyVault,
  hashicorp_vault: hashicorpVault,
  gcp_sm: googleSecretManager,
  environment: environmentSecrets,
  file: fileSecrets,
};
