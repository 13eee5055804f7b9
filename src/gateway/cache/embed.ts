/** Asks for the embedding of a question: a call of its own, with limits, a log record and a cost of its own. */
import { planForProvider } from '../../catalog/compile.ts';
import { objectIn, objectsOf } from '../../providers/json.ts';
import type { AttemptContext } from '../attempt/context.ts';
import type { RequestContext } from '../context.ts';
import { JsonBody } from '../request/body.ts';
import { embeddingsRoute } from '../request/routes.ts';

export interface EmbeddingSettings {
  /** The slug of a saved provider with an embeddings route. */
  provider: string;
  model: string;
  dimensions: number | null;
}

/** Makes the call and settles it. */
export type MakeCall = (call: AttemptContext, context: RequestContext) => Promise<Uint8Array | null>;

/** Null when it cannot be had: then the question is a miss. */
export async function embedded(
  call: AttemptContext,
  text: string,
  settings: EmbeddingSettings,
  make: MakeCall,
): Promise<Float32Array | null> {
  const { context } = call;
  const json = {
    model: settings.model,
    input: text,
    ...(settings.dimensions !== null && { dimensions: settings.dimensions }),
  };
  const { prompt: _, ...rest } = context;
  const answer = await make(call, {
    ...rest,
    matched: embeddingsRoute,
    body: new JsonBody(Buffer.from(JSON.stringify(json)), json),
    plan: planForProvider({ from: 'saved', slug: settings.provider, model: null }),
    provider: { savedSlug: null, name: null, credential: null, model: null },
    requestId: Bun.randomUUIDv7(),
    spanId: Bun.randomUUIDv7(),
    parentSpanId: context.spanId,
    spanName: 'semantic cache',
    receivedAt: call.deps.clock.now().getTime(),
    startedAt: performance.now(),
  });
  const vector = answer && objectsOf(objectIn(answer).data)[0]?.embedding;
  return Array.isArray(vector) && vector.length > 0 && vector.every((value) => typeof value === 'number')
    ? Float32Array.from(vector)
    : null;
}
