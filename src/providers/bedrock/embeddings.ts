/** Embeddings by InvokeModel: each vendor has a body of its own, and most take one input a call. */
import { readDataUrl } from '../chat/media.ts';
import { type EmbeddingRequest, isVector, readEmbeddings, type Vector, writeEmbeddings } from '../embeddings.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { isObject, listOf, numberOf, objectOf, objectsOf, parsed, present, textOf } from '../json.ts';
import type { CallFacts, JsonObject, RawAnswer, Steps } from '../provider.ts';
import { modelId, modelPath } from './model.ts';

/** Text, or a picture, or both as one. */
interface Input {
  text: string | null;
  image: { mime: string; base64: string } | null;
}

type Options = Pick<EmbeddingRequest, 'dimensions' | 'extras'>;

interface Embedder {
  /** How many texts one call takes. */
  most: number;
  takesImages: boolean;
  body(inputs: readonly Input[], options: Options): JsonObject;
  vectors(answer: JsonObject): unknown[];
}

const titanText: Embedder = {
  most: 1,
  takesImages: false,
  body: ([input], { dimensions, extras }) =>
    present({ inputText: input?.text, dimensions, normalize: extras.normalize }),
  vectors: ({ embedding, embeddingsByType }) => [embedding ?? objectOf(embeddingsByType).float],
};

const titanImage: Embedder = {
  most: 1,
  takesImages: true,
  body: ([input], { dimensions }) =>
    present({
      inputText: input?.text,
      inputImage: input?.image?.base64,
      embeddingConfig: dimensions === null ? null : { outputEmbeddingLength: dimensions },
    }),
  vectors: ({ embedding }) => [embedding],
};

/** What the vectors are for, in Nova's words: it wants to know whether they are stored or looked up with. */
const purposes: Readonly<Record<string, string>> = {
  search_document: 'GENERIC_INDEX',
  search_query: 'GENERIC_RETRIEVAL',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
};

const nova: Embedder = {
  most: 1,
  takesImages: true,
  body: ([input], { dimensions, extras }) => ({
    schemaVersion: 'nova-multimodal-embed-v1',
    taskType: 'SINGLE_EMBEDDING',
    singleEmbeddingParams: present({
      embeddingPurpose: extras.embedding_purpose ?? purposes[textOf(extras.input_type) ?? ''] ?? 'GENERIC_INDEX',
      embeddingDimension: dimensions,
      ...novaInput(input),
    }),
  }),
  vectors: ({ embeddings }) => objectsOf(embeddings).map(({ embedding }) => embedding),
};

const novaInput = (input: Input | undefined): JsonObject =>
  input?.image
    ? { image: { format: input.image.mime.replace(/^image\//, ''), source: { bytes: input.image.base64 } } }
    : { text: { truncationMode: 'END', value: input?.text ?? '' } };

/** Takes lists of texts; pictures, in its older version, one by one. */
const cohere: Embedder = {
  most: 96,
  takesImages: true,
  body: (inputs, { dimensions, extras }) => {
    const [first] = inputs;
    return present({
      ...(inputs.some(({ image }) => image)
        ? { images: inputs.map(({ image }) => `data:${image?.mime};base64,${image?.base64}`) }
        : { texts: inputs.map(({ text }) => text ?? '') }),
      input_type: first?.image ? 'image' : (extras.input_type ?? 'search_document'),
      truncate: extras.truncate,
      embedding_types: ['float'],
      output_dimension: dimensions,
    });
  },
  vectors: ({ embeddings }) => [...listOf(isObject(embeddings) ? embeddings.float : embeddings)],
};

const embedders: readonly (readonly [beginning: string, embedder: Embedder])[] = [
  ['amazon.titan-embed-image', titanImage],
  ['amazon.titan-embed', titanText],
  ['amazon.nova', nova],
  ['cohere.embed', cohere],
];

export function embedderOf(facts: CallFacts): Embedder {
  const id = modelId(facts);
  const found = embedders.find(([beginning]) => id.startsWith(beginning))?.[1];
  if (found) return found;
  throw new RequestFault('model', `how the model ${facts.model} embeds is not known; Titan, Nova and Cohere models do`);
}

export const embed: Steps = function* (facts) {
  const embedder = embedderOf(facts);
  const request = readEmbeddings(facts);
  const groups = grouped(request.inputs.map(inputOf(embedder)), embedder.most);
  const answers = yield {
    calls: groups.map((inputs) => ({
      method: 'POST',
      path: modelPath(facts, 'invoke'),
      body: embedder.body(inputs, request),
    })),
  };
  const read = answers.map(({ bytes }) => objectOf(parsed(new TextDecoder().decode(bytes))));
  const vectors = read.flatMap((answer) => embedder.vectors(answer)).map(vectorOf);
  const tokens = answers.reduce((sum, answer, index) => sum + tokensOf(answer, read[index] ?? {}), 0);
  return writeEmbeddings(facts, vectors, request.encoding, tokens);
};

const inputOf =
  ({ takesImages }: Embedder) =>
  ({ text, image }: EmbeddingRequest['inputs'][number], index: number): Input => {
    if (image === null) return { text, image: null };
    if (!takesImages) throw new RequestFault(`input[${index}]`, 'this model embeds text only: leave the image out');
    const read = readDataUrl(image);
    if (read) return { text, image: read };
    throw new RequestFault(
      `input[${index}].image`,
      'an image to embed must be given as data: in base64 or as a data URL',
    );
  };

/** A picture goes alone. */
function grouped(inputs: readonly Input[], most: number): Input[][] {
  const groups: Input[][] = [];
  for (const input of inputs) {
    const last = groups.at(-1);
    if (last && last.length < most && !input.image && !last[0]?.image) last.push(input);
    else groups.push([input]);
  }
  return groups;
}

function vectorOf(vector: unknown): Vector {
  if (isVector(vector)) return vector;
  throw new ProviderFault(502, 'the answer holds no embedding');
}

const tokensOf = ({ headers }: RawAnswer, { inputTextTokenCount }: JsonObject): number =>
  numberOf(inputTextTokenCount) ?? (Number(headers.get('x-amzn-bedrock-input-token-count')) || 0);
