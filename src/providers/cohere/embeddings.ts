/** Cohere's embeddings: what the vectors are for must be said, and long lists take several calls. */
import { type EmbeddingRequest, readEmbeddings, requireVector, type Vector, writeEmbeddings } from '../embeddings.ts';
import { ProviderFault } from '../faults.ts';
import { countOf, listOf, objectOf, parsed, present, textOf } from '../json.ts';
import type { CallFacts, JsonObject, OfferedEndpoint, ProviderEndpoint, Steps, Translation } from '../provider.ts';

const path = '/v2/embed';
/** How much one call takes. */
const mostInputs = 96;

/** The body of a call for these of the inputs; text is asked for as text, so that every model understands it. */
function writeEmbed({ extras, dimensions }: EmbeddingRequest, inputs: EmbeddingRequest['inputs']): JsonObject {
  const texts = inputs.flatMap(({ text, image }) => (text !== null && image === null ? [text] : []));
  return present({
    ...(texts.length === inputs.length
      ? { texts }
      : { inputs: inputs.map(({ text, image }) => ({ content: contentOf(text, image) })) }),
    output_dimension: dimensions,
    ...extras,
    input_type: textOf(extras.input_type) ?? 'search_document',
    embedding_types: listOf(extras.embedding_types).length > 0 ? extras.embedding_types : ['float'],
  });
}

const contentOf = (text: string | null, image: string | null): JsonObject[] => [
  ...(text === null ? [] : [{ type: 'text', text }]),
  ...(image === null ? [] : [{ type: 'image_url', image_url: { url: image } }]),
];

/** The vectors of the type that was asked for; numbers with fractions where there are several. */
function vectorsIn(answer: unknown): Vector[] {
  const { embeddings } = objectOf(answer);
  const byType = Array.isArray(embeddings) ? { float: embeddings } : objectOf(embeddings);
  const vectors = listOf(byType.float ?? Object.values(byType).find(Array.isArray));
  if (vectors.length > 0) return vectors.map(requireVector);
  throw new ProviderFault(502, `the answer has no vectors: ${JSON.stringify(answer).slice(0, 500)}`);
}

/** Pictures are charged in tokens of their own. */
function tokensIn(answer: unknown): number {
  const { input_tokens, image_tokens } = objectOf(objectOf(objectOf(answer).meta).billed_units);
  return countOf(input_tokens) + countOf(image_tokens);
}

const single: Translation = {
  request: (facts) => {
    const request = readEmbeddings(facts);
    return { model: facts.model, ...writeEmbed(request, request.inputs) };
  },
  response: (answer, facts) =>
    writeEmbeddings(facts, vectorsIn(answer), readEmbeddings(facts).encoding, tokensIn(answer)),
};

const several: Steps = function* (facts) {
  const request = readEmbeddings(facts);
  const groups = Array.from({ length: Math.ceil(request.inputs.length / mostInputs) }, (_, index) =>
    request.inputs.slice(index * mostInputs, (index + 1) * mostInputs),
  );
  const answered = yield {
    calls: groups.map((inputs) => ({
      method: 'POST',
      path,
      body: { model: facts.model, ...writeEmbed(request, inputs) },
    })),
  };
  const answers = answered.map(({ bytes }) => parsed(new TextDecoder().decode(bytes)));
  const tokens = answers.reduce<number>((sum, answer) => sum + tokensIn(answer), 0);
  return writeEmbeddings(facts, answers.flatMap(vectorsIn), request.encoding, tokens);
};

const whole: ProviderEndpoint = { path, translation: single };
const divided: ProviderEndpoint = { path, steps: several };

export const embed: OfferedEndpoint = ({ body }: CallFacts) =>
  Array.isArray(body.input) && body.input.length > mostInputs ? divided : whole;
