/** The provider inside the program: it answers without any network, always the same to the same question, and fails or waits when told to. */
import type { EndpointKind } from '../endpoints.ts';
import type { JsonObject, Provider, ProviderEndpoint } from '../provider.ts';
import {
  chatAnswer,
  chatChunks,
  embeddingsAnswer,
  messageAnswer,
  messageEvents,
  responseAnswer,
  responseEvents,
} from './answers.ts';
import { type Knobs, readKnobs } from './knobs.ts';

const offered: readonly EndpointKind[] = ['chatComplete', 'embed', 'messages', 'createModelResponse', 'listModels'];

const models = ['echo', 'echo+delay=500', 'echo+status=503', 'echo+cut=3'];

export const sandbox: Provider = {
  id: 'sandbox',
  name: 'Sandbox',
  address: 'http://sandbox.invalid/v1',
  needsCredential: false,
  headers: () => ({}),
  endpoints: Object.fromEntries(offered.map((kind): [EndpointKind, ProviderEndpoint] => [kind, {}])),
  models,
  local: answer,
};

async function answer(request: Request): Promise<Response> {
  const path = new URL(request.url).pathname.replace(/^\/v1/, '');
  if (path === '/models') return Response.json(modelList);
  const body = (await request.json()) as JsonObject;
  const read = readKnobs(typeof body.model === 'string' ? body.model : 'echo');
  if ('fault' in read) return refusal(400, `The sandbox does not understand this model: ${read.fault}`);
  const { knobs } = read;
  if (knobs.delay > 0) await wait(knobs.delay, request.signal);
  if (knobs.status)
    return refusal(knobs.status, `The sandbox was told to fail with ${knobs.status}`, knobs.retry_after);
  if (path === '/embeddings') return Response.json(embeddingsAnswer(body));
  const dialect = path === '/messages' ? messages : path === '/responses' ? responses : chat;
  if (body.stream !== true) return Response.json(dialect.whole(body, knobs));
  return new Response(streamOf(dialect.parts(body, knobs), knobs, request.signal), {
    headers: { 'content-type': 'text/event-stream; charset=utf-8' },
  });
}

interface SandboxDialect {
  whole(body: JsonObject, knobs: Knobs): object;
  parts(body: JsonObject, knobs: Knobs): string[];
}

const chat: SandboxDialect = { whole: chatAnswer, parts: chatChunks };
const messages: SandboxDialect = { whole: messageAnswer, parts: messageEvents };
const responses: SandboxDialect = { whole: responseAnswer, parts: responseEvents };

const modelList = {
  object: 'list',
  data: models.map((id) => ({ id, object: 'model', created: 1_735_689_600, owned_by: 'sandbox' })),
};

function refusal(status: number, message: string, retryAfter?: number): Response {
  return Response.json(
    { error: { message, type: 'sandbox_error', param: 'model', code: `sandbox_${status}` } },
    { status, ...(retryAfter !== undefined && { headers: { 'retry-after': String(retryAfter) } }) },
  );
}

function streamOf(parts: string[], knobs: Knobs, signal: AbortSignal): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let sent = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (knobs.pace > 0 && sent > 0) await wait(knobs.pace, signal);
      if (sent === knobs.stall) await untilAborted(signal);
      const part = parts[sent];
      if (signal.aborted) controller.error(signal.reason);
      else if (sent === knobs.cut) controller.error(new Error('The sandbox was told to cut this stream'));
      else if (part === undefined) controller.close();
      else controller.enqueue(encoder.encode(part));
      sent++;
    },
  });
}

/** Waits, but no longer than the caller does. */
async function wait(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([passed, untilAborted(signal)]);
  clearTimeout(timer);
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
