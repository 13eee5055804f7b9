/** What every call to watsonx.ai says of itself: its model, and the project or space that pays, or a deployment that knows both. */
import { inPath } from '../compatible/quirks/paths.ts';
import { RequestFault } from '../faults.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import { setting } from '../settings.ts';

const defaultVersion = '2025-02-06';

const deploymentOf = ({ fields }: CallFacts): string | null => setting(fields, 'watsonx_deployment_id');

const versionOf = ({ fields }: CallFacts): string =>
  `version=${encodeURIComponent(setting(fields, 'watsonx_api_version') ?? defaultVersion)}`;

/** Below the deployment where there is one. */
export const textPath =
  (path: string) =>
  (facts: CallFacts): string => {
    const deployment = deploymentOf(facts);
    const place = deployment === null ? '/ml/v1' : `/ml/v1/deployments/${inPath(deployment)}`;
    return `${place}/text/${path}?${versionOf(facts)}`;
  };

export const modelsPath = (facts: CallFacts): string => `/ml/v1/foundation_model_specs?${versionOf(facts)}&limit=200`;

export function payer(facts: CallFacts): JsonObject {
  if (deploymentOf(facts) !== null) return {};
  const project = setting(facts.fields, 'watsonx_project_id');
  const space = setting(facts.fields, 'watsonx_space_id');
  if (project === null && space === null) {
    throw new RequestFault('watsonx_project_id', 'set watsonx_project_id, watsonx_space_id or watsonx_deployment_id');
  }
  return { model_id: facts.model, ...(project === null ? { space_id: space } : { project_id: project }) };
}
