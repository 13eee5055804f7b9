/** A front before a family, without any network: what is asked upstream, what the client gets, whole or streamed and cut wherever a test says. */
import { type ChatFamily, type Front, translate } from '../src/providers/chat/family.ts';
import { openAiFamily } from '../src/providers/openai/family.ts';
import type { CallFacts, JsonObject, ServerEvent } from '../src/providers/provider.ts';
import { callFacts } from './call-facts.ts';
import { cut } from './cut.ts';
import type { Json } from './harness.ts';

interface FrontUnderTest {
  asked(body: JsonObject): Json;
  answered(answer: unknown, body?: JsonObject): Json;
  /** The client's events for upstream bytes that come in pieces of this size. */
  streamed(bytes: string, body?: JsonObject, pieceSize?: number): ServerEvent[];
}

export function fronted(
  front: Front,
  more: Partial<CallFacts> = {},
  family: ChatFamily = openAiFamily,
): FrontUnderTest {
  const { request, response, stream } = translate(front, family);
  const facts = (body: JsonObject) => callFacts({ body, stream: body.stream === true, ...more });
  return {
    asked: (body) => request?.(facts(body)),
    answered: (answer, body = {}) =>
      response(answer, facts(body), { status: 200, headers: new Headers(), bytes: new Uint8Array() }),
    streamed(bytes, body = {}, pieceSize = Number.POSITIVE_INFINITY) {
      const translator = stream?.(facts({ ...body, stream: true }));
      if (!translator) throw new Error('The family does not stream');
      const events = cut(bytes, 'sse', pieceSize).flatMap((event) => translator.event(event));
      return [...events, ...translator.end()];
    },
  };
}

/** Chat completion chunks with these deltas, then the reason, the usage and the terminator. */
export const chunks = (deltas: readonly object[], finish = 'stop', usage: object | null = plainUsage): string =>
  [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
    ...(usage ? [{ choices: [], usage }] : []),
  ]
    .map((chunk) => `data: ${JSON.stringify({ id: 'chatcmpl-1', model: 'model-1', ...chunk })}\n\n`)
    .join('')
    .concat('data: [DONE]\n\n');

export const plainUsage = {
  prompt_tokens: 20,
  completion_tokens: 10,
  total_tokens: 30,
  prompt_tokens_details: { cached_tokens: 5 },
  completion_tokens_details: { reasoning_tokens: 3 },
};

export const completion = (message: object, finish = 'stop', usage: object | null = plainUsage): Json => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_760_000_000,
  model: 'model-1',
  choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: finish }],
  ...(usage && { usage }),
});

export const call = (id: string, name: string, args: string) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
