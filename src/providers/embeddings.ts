/** Embeddings: the canonical request, read for providers with a dialect of their own, and the canonical answer, written from their vectors. */
import { ProviderFault, RequestFault } from './faults.ts';
import { Fields } from './fields.ts';
import { countOf, numberOf, objectOf, objectsOf } from './json.ts';
import type { CallFacts, JsonObject } from './provider.ts';

/** One thing to embed: text, an image, or both as one. An image is an address on the web or a data URL. */
export interface EmbeddingInput {
  text: string | null;
  image: string | null;
}

export interface EmbeddingRequest {
  inputs: readonly EmbeddingInput[];
  dimensions: number | null;
  encoding: 'float' | 'base64';
  /** Fields that OpenAI does not know. */
  extras: JsonObject;
}

const known = new Set(['model', 'input', 'dimensions', 'encoding_format', 'user']);

export function readEmbeddings({ body: json }: CallFacts): EmbeddingRequest {
  const body = new Fields(json);
  const encoding = body.text('encoding_format') ?? 'float';
  if (encoding !== 'float' && encoding !== 'base64') {
    throw new RequestFault('encoding_format', 'encoding_format must be float or base64');
  }
  return {
    inputs: inputsOf(json.input),
    dimensions: body.number('dimensions'),
    encoding,
    extras: body.others(known),
  };
}

function inputsOf(input: unknown): EmbeddingInput[] {
  if (input === undefined || input === null) throw new RequestFault('input', 'input is missing');
  if (!Array.isArray(input)) return [inputOf(input, 'input')];
  if (input.length === 0) throw new RequestFault('input', 'input must hold at least one entry');
  return input.map((entry, index) => inputOf(entry, `input[${index}]`));
}

function inputOf(entry: unknown, path: string): EmbeddingInput {
  if (typeof entry === 'string') return { text: entry, image: null };
  if (typeof entry === 'number' || Array.isArray(entry)) {
    throw new RequestFault('input', `${path} is a list of tokens, which only their own provider can read: send text`);
  }
  const fields = Fields.of(entry, path);
  if (fields.has('video')) throw new RequestFault(fields.at('video'), 'this provider cannot be given video');
  const image = fields.object('image');
  const text = fields.text('text') ?? image?.text('text') ?? null;
  const address = image && (image.text('url') ?? dataUrl(image));
  if (text === null && address === null) throw new RequestFault(path, `${path} needs text or an image`);
  return { text, image: address };
}

const dataUrl = (image: Fields): string => {
  const base64 = image.needText('base64');
  return base64.startsWith('data:') ? base64 : `data:image/png;base64,${base64}`;
};

/** For providers that embed text only. */
export const textsOf = ({ inputs }: EmbeddingRequest): string[] =>
  inputs.map(({ text, image }, index) => {
    if (image === null && text !== null) return text;
    throw new RequestFault(`input[${index}]`, 'this model embeds text only: leave the image out');
  });

/** For providers whose vectors have the size that they have. */
export function refuseDimensions({ dimensions }: EmbeddingRequest): void {
  if (dimensions === null) return;
  throw new RequestFault('dimensions', 'the vectors of this provider’s models have one size: leave dimensions out');
}

export type Vector = readonly number[];

/** `tokens` is null where the provider does not tell. */
export function writeEmbeddings(
  { provider, model }: CallFacts,
  vectors: readonly Vector[],
  encoding: EmbeddingRequest['encoding'],
  tokens: number | null,
): JsonObject {
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: encoding === 'base64' ? packed(vector) : vector,
    })),
    model,
    usage: { prompt_tokens: tokens ?? 0, total_tokens: tokens ?? 0 },
    provider,
  };
}

/** Numbers of 32 bits, the lowest byte first: how clients of OpenAI ask for vectors by themselves. */
export function packed(vector: Vector): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}

/** Lists of numbers among what a provider answered. */
export const isVector = (value: unknown): value is Vector =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'number');

/** An input without a vector would give the others to the wrong ones. */
export function requireVector(value: unknown): Vector {
  if (isVector(value)) return value;
  throw new ProviderFault(502, 'the answer has an entry without a vector');
}

/** The vectors of a list like OpenAI's, in the order of the inputs. */
export function vectorsByIndex(data: unknown): Vector[] {
  const entries = objectsOf(data).toSorted((one, other) => countOf(one.index) - countOf(other.index));
  return entries.map(({ embedding }) => requireVector(embedding));
}

/** An answer like OpenAI's, which counts its tokens under this name. */
export function listedEmbeddings(
  answer: unknown,
  facts: CallFacts,
  count: 'prompt_tokens' | 'total_tokens',
): JsonObject {
  const { data, usage } = objectOf(answer);
  const tokens = numberOf(objectOf(usage)[count]);
  return writeEmbeddings(facts, vectorsByIndex(data), readEmbeddings(facts).encoding, tokens);
}
