/** Embeddings on Vertex AI: as many texts in a call as the model takes, or the older model for text, images and video. */
import { readEmbeddings, textsOf, writeEmbeddings } from '../embeddings.ts';
import { Fields } from '../fields.ts';
import { embeddingSettings, vectorOf } from '../google/embeddings.ts';
import { countOf, objectIn, objectOf, objectsOf, present } from '../json.ts';
import type { CallFacts, ProviderCall, Steps } from '../provider.ts';
import { multimodalEmbeddings } from './multimodal.ts';
import { modelMethod } from './place.ts';

export const embeddings: Steps = (facts) => {
  if (facts.model.includes('multimodalembedding')) return multimodalEmbeddings(facts);
  // Models of the Gemini family after the first have the method that AI Studio has.
  const isContent = facts.model.includes('gemini') && !facts.model.includes('gemini-embedding-001');
  return isContent ? contentEmbeddings(facts) : textEmbeddings(facts);
};

const mostTexts = 250;

function* textEmbeddings(facts: CallFacts): ReturnType<Steps> {
  const request = readEmbeddings(facts);
  const texts = textsOf(request);
  const size = facts.model.includes('gemini-embedding') ? 1 : mostTexts;
  const { outputDimensionality, taskType, title } = embeddingSettings(facts.body);
  const fields = new Fields(facts.body);
  const parameters = present({
    outputDimensionality,
    autoTruncate: fields.flag('auto_truncate') ?? fields.flag('autoTruncate'),
  });
  const calls = chunks(texts, size).map(
    (some): ProviderCall => ({
      method: 'POST',
      path: modelMethod(facts, 'predict'),
      body: {
        instances: some.map((content) => present({ content, task_type: taskType, title })),
        ...(Object.keys(parameters).length > 0 && { parameters }),
      },
    }),
  );
  const answers = yield { calls };
  const found = answers.flatMap((answer) =>
    objectsOf(objectIn(answer.bytes).predictions).map(({ embeddings: one }) => objectOf(one)),
  );
  const tokens = found.reduce((sum, { statistics }) => sum + countOf(objectOf(statistics).token_count), 0);
  return writeEmbeddings(facts, found.map(vectorOf), request.encoding, tokens);
}

function* contentEmbeddings(facts: CallFacts): ReturnType<Steps> {
  const request = readEmbeddings(facts);
  const embedContentConfig = embeddingSettings(facts.body);
  const answers = yield {
    calls: textsOf(request).map((text) => ({
      method: 'POST',
      path: modelMethod(facts, 'embedContent'),
      body: {
        content: { parts: [{ text }] },
        ...(Object.keys(embedContentConfig).length > 0 && { embedContentConfig }),
      },
    })),
  };
  const bodies = answers.map(({ bytes }) => objectIn(bytes));
  const tokens = bodies.reduce((sum, body) => sum + countOf(objectOf(body.usageMetadata).promptTokenCount), 0);
  const vectors = bodies.map(({ embedding }) => vectorOf(embedding));
  return writeEmbeddings(facts, vectors, request.encoding, tokens);
}

const chunks = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, index) => list.slice(index * size, (index + 1) * size));
