/** Embeddings at AI Studio: one request of a batch for each input, in their order. */
import { readEmbeddings, requireVector, textsOf, type Vector, writeEmbeddings } from '../embeddings.ts';
import { Fields } from '../fields.ts';
import { listOf, numberOf, objectOf, present } from '../json.ts';
import type { JsonObject, Translation } from '../provider.ts';
import { modelName } from './model-name.ts';

export const embeddings: Translation = {
  request(facts) {
    const settings = embeddingSettings(facts.body);
    const model = modelName(facts.model);
    return {
      requests: textsOf(readEmbeddings(facts)).map((text) => ({ model, content: { parts: [{ text }] }, ...settings })),
    };
  },
  response(answer, facts) {
    const { embeddings: found, usageMetadata } = objectOf(answer);
    const tokens = numberOf(objectOf(usageMetadata).promptTokenCount);
    return writeEmbeddings(facts, listOf(found).map(vectorOf), readEmbeddings(facts).encoding, tokens);
  },
};

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
