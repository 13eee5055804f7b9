/** Which deployment of an Azure OpenAI resource a model means, and the version of the API that it is called with. */
import { isObject, objectsOf } from '../json.ts';
import type { CallFacts, TargetFields } from '../provider.ts';
import { setting } from '../settings.ts';

export interface Deployment {
  name: string;
  apiVersion: string;
}

/** The newest version of the dated API that is not a preview. */
const defaultVersion = '2024-10-21';

interface Listed {
  name: string;
  /** The model that is deployed, where the list says it. */
  model: string | null;
  /** What the deployment may be asked for by. */
  known: ReadonlySet<string>;
  apiVersion: string | null;
  isDefault: boolean;
}

type Named = Pick<CallFacts, 'fields' | 'model'>;

export function deploymentOf({ fields, model }: Named): Deployment {
  const chosen = chosenOf({ fields, model });
  const single = setting(fields, 'deployment_id', 'azure_deployment_id');
  return {
    name: chosen?.name ?? single ?? model,
    apiVersion: chosen?.apiVersion ?? setting(fields, 'api_version', 'azure_api_version') ?? defaultVersion,
  };
}

/** What the deployment is of, for prices; null where only its answers tell. */
export const deployedModel = (target: Named): string | null =>
  setting(target.fields, 'azure_model_name') ?? chosenOf(target)?.model ?? null;

function chosenOf({ fields, model }: Named): Listed | null {
  const listed = deploymentsIn(fields);
  return (
    listed.find(({ known }) => known.has(model)) ?? listed.find(({ isDefault }) => isDefault) ?? listed.at(0) ?? null
  );
}

/** The version of calls that name no model, such as those for files. */
export const versionOf = (facts: CallFacts): string => deploymentOf(facts).apiVersion;

/** Configs and integrations list deployments under different names. */
const deploymentsIn = (fields: TargetFields): Listed[] =>
  objectsOf(listIn(fields)).flatMap((entry) => {
    const name = setting(entry, 'deployment_id', 'azure_deployment_name');
    if (name === null) return [];
    const model = setting(entry, 'azure_model_slug');
    const others = [setting(entry, 'alias'), model];
    return [
      {
        name,
        model,
        known: new Set([name, ...others.filter((known) => known !== null)]),
        apiVersion: setting(entry, 'api_version', 'azure_api_version'),
        isDefault: entry.is_default === true,
      },
    ];
  });

function listIn({ deployments, azure_deployment_config }: TargetFields): unknown {
  const list = deployments ?? azure_deployment_config;
  return isObject(list) ? [list] : list;
}
