/** Embeddings by InvokeModel: each vendor has a body of its own, and most take one input a call. */
import { readDataUrl } from '../chat/media.ts';
import { type EmbeddingRequest, readEmbeddings, requireVector, writeEmbeddings } from '../embeddings.ts';
import { RequestFault } from '../faults.ts';
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
  /** `alone`: never beside a text. */
  images: 'none' | 'alone' | 'with text';
  body(inputs: readonly Input[], options: Options): JsonObject;
  vectors(answer: JsonObject): unknown[];
}

const titanText: Embedder = {
  most: 1,
  images: 'none',
  body: ([input], { dimensions, extras }) =>
    present({ inputText: input?.text, dimensions, normalize: extras.normalize }),
  vectors: ({ embedding, embeddingsByType }) => [embedding ?? objectOf(embeddingsByType).float],
};

const titanImage: Embedder = {
  most: 1,
  images: 'with text',
  body: ([input], { dimensions }) =>
    present({
      inputText: input?.text,
      inputImage: input?.image?.base64,
      embeddingConfig: dimensions === null ? null : { outputEmbeddingLength: dimensions },
    }),
  vectors: ({ embedding }) => [embedding],
};

/** What the vectors are for, in Nova's words: it wants to know whether they are stored or looked up with. */
const purposes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    search_document: 'GENERIC_INDEX',
    search_query: 'GENERIC_RETRIEVAL',
    classification: 'CLASSIFICATION',
    clustering: 'CLUSTERING',
  }),
);

const nova: Embedder = {
  most: 1,
  images: 'alone',
  body: ([input], { dimensions, extras }) => ({
    schemaVersion: 'nova-multimodal-embed-v1',
    taskType: 'SINGLE_EMBEDDING',
    singleEmbeddingParams: present({
      embeddingPurpose: extras.embedding_purpose ?? purposes.get(textOf(extras.input_type) ?? '') ?? 'GENERIC_INDEX',
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

/** Takes lists of texts; pictures one by one. */
const cohere: Embedder = {
  most: 96,
  images: 'alone',
  body: (inputs, options) => cohereBody(options, cohereInputs(inputs)),
  vectors: ({ embeddings }) => [...listOf(isObject(embeddings) ? embeddings.float : embeddings)],
};

/** The newer version embeds a picture and its text as one. */
const cohereFourth: Embedder = {
  ...cohere,
  images: 'with text',
  body: (inputs, options) =>
    cohereBody(options, inputs.some(isBoth) ? { inputs: inputs.map(cohereParts) } : cohereInputs(inputs)),
};

const cohereBody = ({ dimensions, extras }: Options, inputs: JsonObject): JsonObject =>
  present({
    input_type: extras.input_type ?? 'search_document',
    ...inputs,
    truncate: extras.truncate,
    embedding_types: ['float'],
    output_dimension: dimensions,
  });

const cohereInputs = (inputs: readonly Input[]): JsonObject => {
  const pictures = inputs.flatMap(({ image }) => (image ? [imageUrl(image)] : []));
  return pictures.length > 0
    ? { images: pictures, input_type: 'image' }
    : { texts: inputs.map(({ text }) => text ?? '') };
};

const cohereParts = ({ text, image }: Input): JsonObject => ({
  content: [
    ...(text === null ? [] : [{ type: 'text', text }]),
    ...(image ? [{ type: 'image_url', image_url: { url: imageUrl(image) } }] : []),
  ],
});

const isBoth = ({ text, image }: Input): boolean => text !== null && image !== null;
const imageUrl = ({ mime, base64 }: NonNullable<Input['image']>): string => `data:${mime};base64,${base64}`;

/** Of TwelveLabs; the third version puts what it embeds under the name of its kind. */
const marengo: Embedder = {
  most: 1,
  images: 'alone',
  body: ([input]) =>
    input?.image
      ? { inputType: 'image', mediaSource: { base64String: input.image.base64 } }
      : { inputType: 'text', inputText: input?.text ?? '' },
  vectors: marengoVectors,
};

const marengoThird: Embedder = {
  ...marengo,
  body: ([input]) =>
    input?.image
      ? { inputType: 'image', image: { mediaSource: { base64String: input.image.base64 } } }
      : { inputType: 'text', text: { inputText: input?.text ?? '' } },
};

function marengoVectors({ data, embedding }: JsonObject): unknown[] {
  return embedding === undefined ? objectsOf(data).map((entry) => entry.embedding) : [embedding];
}

const embedders: readonly (readonly [beginning: string, embedder: Embedder])[] = [
  ['amazon.titan-embed-image', titanImage],
  ['amazon.titan-embed', titanText],
  ['amazon.nova', nova],
  ['cohere.embed-v4', cohereFourth],
  ['cohere.embed', cohere],
  ['twelvelabs.marengo-embed-3', marengoThird],
  ['twelvelabs.marengo-embed', marengo],
];

export function embedderOf(facts: CallFacts): Embedder {
  const id = modelId(facts);
  const found = embedders.find(([beginning]) => id.startsWith(beginning))?.[1];
  if (found) return found;
  throw new RequestFault(
    'model',
    `how the model ${facts.model} embeds is not known; Titan, Nova, Cohere and Marengo models do`,
  );
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
  const vectors = read.flatMap((answer) => embedder.vectors(answer)).map(requireVector);
  const tokens = answers.reduce((sum, answer, index) => sum + tokensOf(answer, read[index] ?? {}), 0);
  return writeEmbeddings(facts, vectors, request.encoding, tokens);
};

const inputOf =
  ({ images }: Embedder) =>
  ({ text, image }: EmbeddingRequest['inputs'][number], index: number): Input => {
    if (image === null) return { text, image: null };
    const field = `input[${index}]`;
    if (images === 'none') throw new RequestFault(field, 'this model embeds text only: leave the image out');
    if (images === 'alone' && text !== null) {
      throw new RequestFault(field, 'this model embeds an image or a text, not both as one: send them apart');
    }
    const read = readDataUrl(image);
    if (read) return { text, image: read };
    throw new RequestFault(`${field}.image`, 'an image to embed must be given as data: in base64 or as a data URL');
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

const tokensOf = ({ headers }: RawAnswer, { inputTextTokenCount, inputTokenCount }: JsonObject): number =>
  numberOf(inputTextTokenCount) ??
  numberOf(inputTokenCount) ??
  (Number(headers.get('x-amzn-bedrock-input-token-count')) || 0);
