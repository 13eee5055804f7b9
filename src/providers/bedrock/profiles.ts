/** Application inference profiles: what a customer calls a model of Bedrock's, so that the name tells nothing of it. */
import { awsAddress } from '../aws/access.ts';
import { objectsOf, textOf } from '../json.ts';
import type { CallFacts, Discovery } from '../provider.ts';
import { setting } from '../settings.ts';

const isProfile = (model: string): boolean =>
  /^arn:[^:]+:bedrock:[^:]+:[^:]*:application-inference-profile\//.test(model);

/** The model behind a profile, unless the target says it. */
export function profileDiscovery(target: Pick<CallFacts, 'model' | 'fields' | 'customHost'>): Discovery | null {
  const { model, fields } = target;
  if (!isProfile(model) || setting(fields, 'foundation_model') !== null) return null;
  return {
    call: {
      method: 'GET',
      path: `${awsAddress('bedrock', target)}/inference-profiles/${encodeURIComponent(model)}`,
    },
    // The same model, once for every region that it runs in.
    read: ({ models }) => {
      const arn = textOf(objectsOf(models)[0]?.modelArn);
      return arn === null ? {} : { foundation_model: arn.slice(arn.lastIndexOf('/') + 1) };
    },
  };
}
