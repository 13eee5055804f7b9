/** Predictions of Replicate: asked for with the model's input, and waited for. */
import { inPath } from '../compatible/quirks/paths.ts';
import { ProviderFault } from '../faults.ts';
import { objectOf, textOf } from '../json.ts';
import type { JsonObject, ProviderCall } from '../provider.ts';
import { asked, polled, type Stepping } from '../stepping.ts';

/** The provider holds the answer back for as long as a minute, so that most predictions take one call. */
const patience = { prefer: 'wait=60' };

/** A model by its owner and name, one of its versions, or a deployment of one's own. */
function creation(model: string, input: JsonObject): ProviderCall {
  const version = /^(?:[^:]+:)?([0-9a-f]{64})$/.exec(model)?.[1];
  const deployment = /^deployments\/(.+)$/.exec(model)?.[1];
  const path = version
    ? '/predictions'
    : deployment
      ? `/deployments/${inPath(deployment)}/predictions`
      : `/models/${inPath(model)}/predictions`;
  return { method: 'POST', path, headers: patience, body: version ? { version, input } : { input } };
}

export function* predicted(model: string, input: JsonObject): Stepping<JsonObject> {
  const begun = yield* asked(creation(model, input));
  const path = `/predictions/${inPath(textOf(begun.id) ?? '')}`;
  return finished(begun) ?? (yield* polled({ method: 'GET', path }, finished));
}

function finished(prediction: JsonObject): JsonObject | null {
  switch (prediction.status) {
    case 'succeeded':
    case 'successful':
      return prediction;
    case 'failed':
      throw new ProviderFault(502, textOf(prediction.error) ?? 'the prediction failed');
    case 'canceled':
    case 'aborted':
      throw new ProviderFault(499, 'the prediction was cancelled');
    default:
      return null;
  }
}

/** Tokens that some models tell of. */
export function tokensIn({ metrics }: JsonObject): { input: unknown; output: unknown } {
  const { input_token_count, token_input_count, output_token_count, token_output_count } = objectOf(metrics);
  return { input: input_token_count ?? token_input_count, output: output_token_count ?? token_output_count };
}
