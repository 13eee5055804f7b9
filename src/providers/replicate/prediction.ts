/** Predictions of Replicate: asked for with the model's input, and waited for. */
import { inPath } from '../compatible/quirks/paths.ts';
import type { EncodedBody } from '../encoded-body.ts';
import { ProviderFault } from '../faults.ts';
import { countOf, numberOf, objectOf, textOf } from '../json.ts';
import type { JsonObject, ProviderCall, Usage } from '../provider.ts';
import { begun, polled, type Stepping } from '../stepping.ts';
import { noUsage } from '../usage.ts';

/** The provider holds the answer back for as long as a minute, so that most predictions take one call. */
const patience = { prefer: 'wait=60' };

const versionIn = (model: string): string | null => /^(?:[^:]+:)?([0-9a-f]{64})$/.exec(model)?.[1] ?? null;

/** A version is named in the body. */
export function predictionBody(model: string, input: JsonObject): JsonObject {
  const version = versionIn(model);
  return version === null ? { input } : { version, input };
}

/** A model by its owner and name, one of its versions, or a deployment of one's own. What streams is not waited for. */
function creation(model: string, body: JsonObject | EncodedBody, streams: boolean): ProviderCall {
  const deployment = /^deployments\/(.+)$/.exec(model)?.[1];
  const path =
    versionIn(model) !== null
      ? '/predictions'
      : deployment
        ? `/deployments/${inPath(deployment)}/predictions`
        : `/models/${inPath(model)}/predictions`;
  return { method: 'POST', path, body, ...(!streams && { headers: patience }) };
}

/** A prediction as it begins. It would go on by itself, and be paid for, after those who asked for it have left. */
export const started = (model: string, body: JsonObject | EncodedBody, streams: boolean): Stepping<JsonObject> =>
  begun(creation(model, body, streams), cancellation);

const pathOf = ({ id }: JsonObject): string => `/predictions/${inPath(textOf(id) ?? '')}`;

/** It may have come to its end meanwhile. */
const cancellation = (prediction: JsonObject): ProviderCall | null =>
  prediction.status === 'starting' || prediction.status === 'processing'
    ? { method: 'POST', path: `${pathOf(prediction)}/cancel`, accepts: [404, 409, 422] }
    : null;

export function* predicted(model: string, input: JsonObject): Stepping<JsonObject> {
  return yield* awaited(yield* started(model, predictionBody(model, input), false));
}

export function* awaited(prediction: JsonObject): Stepping<JsonObject> {
  return finished(prediction) ?? (yield* polled({ method: 'GET', path: pathOf(prediction) }, finished));
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

/** Some models tell how many tokens they read and wrote. */
export function usageOf({ metrics }: JsonObject): Usage | null {
  const { input_token_count, token_input_count, output_token_count, token_output_count } = objectOf(metrics);
  const [input, output] = [input_token_count ?? token_input_count, output_token_count ?? token_output_count];
  if (numberOf(input) === null && numberOf(output) === null) return null;
  return { ...noUsage, inputTokens: countOf(input), outputTokens: countOf(output) };
}
