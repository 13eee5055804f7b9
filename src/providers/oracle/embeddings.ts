/** Embeddings on OCI. */
import { readEmbeddings, requireVector, textsOf, writeEmbeddings } from '../embeddings.ts';
import { RequestFault } from '../faults.ts';
import { listOf, numberOf, objectOf, present, textOf } from '../json.ts';
import type { Translation } from '../provider.ts';
import { served } from './compartment.ts';

const mostInputs = 96;

export const embeddings: Translation = {
  request(facts) {
    const request = readEmbeddings(facts);
    const inputs = textsOf(request);
    if (inputs.length > mostInputs) throw new RequestFault('input', `a call takes ${mostInputs} inputs at most`);
    const { input_type, truncate, ...extras } = request.extras;
    return present({
      ...served(facts),
      inputs,
      inputType: textOf(input_type)?.toUpperCase() ?? 'SEARCH_DOCUMENT',
      truncate: textOf(truncate)?.toUpperCase(),
      outputDimensions: request.dimensions,
      ...extras,
    });
  },
  response(answer, facts) {
    const { embeddings: vectors, usage } = objectOf(answer);
    const tokens = numberOf(objectOf(usage).promptTokens);
    return writeEmbeddings(facts, listOf(vectors).map(requireVector), readEmbeddings(facts).encoding, tokens);
  },
};
