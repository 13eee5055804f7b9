/** Providers of embeddings and reranking, each in its own dialect. */
import { type Behaviour, json, type ReceivedCall } from './simulated.ts';

/** Every text has a vector of its own. */
export const vectorOf = (text: string): number[] => [text.length, 0.5, -0.25];

type Json = ReceivedCall['json'];
type Refusal = (words: string) => object;

/** Routes that answer a body, or refuse it in the provider's own form. */
function service(
  authorised: (headers: ReceivedCall['headers']) => boolean,
  refusal: Refusal,
  routes: Record<string, (body: Json) => object | string>,
): Behaviour {
  return (call, response) => {
    if (!authorised(call.headers)) return json(401, refusal('Invalid key'))(call, response);
    const route = routes[`${call.method} ${call.path}`];
    if (!route) return json(404, refusal(`${call.path} not found`))(call, response);
    const answer = route(call.json);
    return typeof answer === 'string' ? json(400, refusal(answer))(call, response) : json(200, answer)(call, response);
  };
}

const unknownField = (body: Json, known: string): string | null =>
  Object.keys(body).find((name) => !known.split(' ').includes(name)) ?? null;

const textOf = (document: Json): string => (typeof document === 'string' ? document : document.text);

/** The longest documents are the best; they come in their own order. */
const scored = (documents: Json[], most: number | undefined, score: string) =>
  documents
    .slice(0, most ?? documents.length)
    .map((_, index) => ({ index, [score]: textOf(documents[index]).length / 100 }));

const detail: Refusal = (words) => ({ detail: words });

export const voyageApi = (key: string): Behaviour =>
  service(({ authorization }) => authorization === `Bearer ${key}`, detail, {
    'POST /v1/embeddings': (body) => {
      const unknown = unknownField(
        body,
        'model input input_type truncation output_dimension output_dtype encoding_format',
      );
      if (unknown) return `Argument '${unknown}' is not supported by our API.`;
      // Out of order, as any list with an index may be.
      const data = body.input.map((text: string, index: number) => ({
        object: 'embedding',
        embedding: vectorOf(text),
        index,
      }));
      return { object: 'list', data: data.reverse(), model: body.model, usage: { total_tokens: 10 } };
    },
    'POST /v1/multimodalembeddings': (body) => ({
      object: 'list',
      data: body.inputs.map((_: Json, index: number) => ({ object: 'embedding', embedding: [index, 1], index })),
      model: body.model,
      usage: { text_tokens: 5, image_pixels: 100, total_tokens: 20 },
    }),
    'POST /v1/rerank': (body) => {
      const unknown = unknownField(body, 'model query documents top_k return_documents truncation');
      if (unknown) return `Argument '${unknown}' is not supported by our API.`;
      return {
        object: 'list',
        data: scored(body.documents, body.top_k, 'relevance_score'),
        model: body.model,
        usage: { total_tokens: 26 },
      };
    },
  });

export const jinaApi = (key: string): Behaviour =>
  service(({ authorization }) => authorization === `Bearer ${key}`, detail, {
    'POST /v1/embeddings': ({ model, input }) => ({
      model,
      object: 'list',
      usage: { total_tokens: 6, prompt_tokens: 6 },
      data: input.map((entry: Json, index: number) => ({
        object: 'embedding',
        index,
        embedding: vectorOf(textOf(entry) ?? ''),
      })),
    }),
    'POST /v1/rerank': ({ model, documents, top_n }) => ({
      model,
      object: 'list',
      usage: { total_tokens: 15 },
      results: scored(documents, top_n, 'relevance_score'),
    }),
  });

export const nomicApi = (key: string): Behaviour =>
  service(({ authorization }) => authorization === `Bearer ${key}`, detail, {
    'POST /v1/embedding/text': ({ texts, model, task_type }) =>
      task_type
        ? { embeddings: texts.map(vectorOf), usage: { prompt_tokens: 4, total_tokens: 4 }, model }
        : 'task_type is required',
  });

const pineconeRefusal: Refusal = (words) => ({ error: { code: 'INVALID_ARGUMENT', message: words }, status: 400 });

export const pineconeApi = (key: string): Behaviour =>
  service((headers) => headers['api-key'] === key && Boolean(headers['x-pinecone-api-version']), pineconeRefusal, {
    'POST /embed': ({ model, inputs, parameters }) =>
      parameters?.input_type
        ? {
            model,
            vector_type: 'dense',
            data: inputs.map(({ text }: Json) => ({ values: vectorOf(text), vector_type: 'dense' })),
            usage: { total_tokens: 7 },
          }
        : 'Missing required parameter: input_type',
    'POST /rerank': ({ model, documents, top_n }) =>
      documents.every((document: Json) => typeof document === 'object')
        ? { model, data: scored(documents, top_n, 'score'), usage: { rerank_units: 1 } }
        : 'documents must be objects',
  });
