/** Embeddings at AI Studio: one request of a batch for each input, in their order, and as many batches as it takes. */
import { readEmbeddings, requireVector, textsOf, type Vector, writeEmbeddings } from '../embeddings.ts';
import { Fields } from '../fields.ts';
import { listOf, numberOf, objectOf, present } from '../json.ts';
import type { CallFacts, JsonObject, Steps } from '../provider.ts';
import { objectIn } from '../stepping.ts';
import { modelName } from './model-name.ts';

/** More than these in one call are refused. */
const mostInputs = 100;

export const embeddings = (path: (facts: CallFacts) => string): Steps =>
  function* (facts) {
    const settings = embeddingSettings(facts.body);
    const model = modelName(facts.model);
    const request = readEmbeddings(facts);
    const asked = textsOf(request).map((text) => ({ model, content: { parts: [{ text }] }, ...settings }));
    const batches = Array.from({ length: Math.ceil(asked.length / mostInputs) }, (_, index) =>
      asked.slice(index * mostInputs, (index + 1) * mostInputs),
    );
    const answers = yield {
      calls: batches.map((requests) => ({ method: 'POST', path: path(facts), body: { requests } })),
    };
    const read = answers.map(objectIn);
    const vectors = read.flatMap(({ embeddings: found }) => listOf(found).map(vectorOf));
    return writeEmbeddings(facts, vectors, request.encoding, tokensIn(read));
  };

/** Null where one of them does not tell. */
function tokensIn(answers: readonly JsonObject[]): number | null {
  const told = answers.map(({ usageMetadata }) => numberOf(objectOf(usageMetadata).promptTokenCount));
  return told.reduce((sum, tokens) => (sum === null || tokens === null ? null : sum + tokens), 0);
}

/** What may be said about a text to embed, in Gemini's words. */
export function embeddingSettings(body: Readonly<JsonObject>): JsonObject {
  const fields = new Fields(body);
  return present({
    outputDimensionality: fields.number('dimensions'),
    taskType: fields.text('task_type') ?? fields.text('taskType'),
    title: fields.text('title'),
  });
}

export const vectorOf = (embedding: unknown): Vector => requireVector(objectOf(embedding).values);
