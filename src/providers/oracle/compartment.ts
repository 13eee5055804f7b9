/** What every call to OCI Generative AI says of itself: who signs it, who pays, and how the model is served. */
import type { Authentication } from '../authentication.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import { hostLabel, needSetting, setting } from '../settings.ts';

export const address = ({ fields }: CallFacts): string =>
  `https://inference.generativeai.${hostLabel(fields, 'oracle_region')}.oci.oraclecloud.com`;

const defaultVersion = '20231130';

export const action =
  (name: string) =>
  ({ fields }: CallFacts): string =>
    `/${encodeURIComponent(setting(fields, 'oracle_api_version') ?? defaultVersion)}/actions/${name}`;

export const served = ({ fields, model }: CallFacts): JsonObject => ({
  compartmentId: needSetting(fields, 'oracle_compartment_id'),
  servingMode:
    setting(fields, 'oracle_serving_mode') === 'DEDICATED'
      ? { servingType: 'DEDICATED', endpointId: model }
      : { servingType: 'ON_DEMAND', modelId: model },
});

export const signer = ({ fields, credential }: CallFacts): Authentication => ({
  kind: 'oci',
  tenancy: needSetting(fields, 'oracle_tenancy'),
  user: needSetting(fields, 'oracle_user'),
  fingerprint: needSetting(fields, 'oracle_fingerprint'),
  privateKey: setting(fields, 'oracle_private_key') ?? credential ?? needSetting(fields, 'oracle_private_key'),
  passphrase: setting(fields, 'oracle_key_passphrase'),
});
