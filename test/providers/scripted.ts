/** A provider inside the test process, for properties that need thousands of streams: bytes cut and broken wherever a test says. */
import type { EndpointKind } from '../../src/providers/endpoints.ts';
import type { JsonObject, Provider } from '../../src/providers/provider.ts';

export type Scripted = (body: JsonObject) => Response;

const kinds: readonly EndpointKind[] = ['chatComplete', 'complete', 'messages', 'createModelResponse', 'imageGenerate'];

export const scriptedProvider = (id: string, more: Partial<Provider>, answer: () => Scripted): Provider => ({
  id,
  name: id,
  address: 'http://scripted.invalid/v1',
  needsCredential: false,
  headers: () => ({}),
  endpoints: Object.fromEntries(kinds.map((kind) => [kind, {}])),
  local: async (request) => answer()((await request.json()) as JsonObject),
  ...more,
});

export const refusal = (status: number): Response =>
  Response.json({ error: { message: `refused with ${status}`, type: 'invalid_request_error' } }, { status });

/** A stream of these chunks that then ends as a whole one does, or breaks like a connection. */
export function streamed(chunks: readonly (string | Uint8Array)[], ending: 'end' | 'break' = 'end'): Response {
  const encoder = new TextEncoder();
  let next = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = chunks[next++];
        if (chunk !== undefined) controller.enqueue(typeof chunk === 'string' ? encoder.encode(chunk) : chunk);
        else if (ending === 'end') controller.close();
        else controller.error(Object.assign(new Error('the connection broke'), { code: 'ECONNRESET' }));
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

/** The bytes in pieces of these sizes, over and over. */
export function inPieces(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (let index = 0; from < bytes.length; index++) {
    const size = Math.max(1, sizes[index % sizes.length] ?? bytes.length);
    pieces.push(bytes.subarray(from, from + size));
    from += size;
  }
  return pieces;
}
