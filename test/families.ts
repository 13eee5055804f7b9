/** A family behind the chat front, without any network: what is asked, what is answered, and streams cut wherever a test says. */
import { type ChatFamily, translate } from '../src/providers/chat/family.ts';
import { chatFront } from '../src/providers/fronts/chat/chat.ts';
import type { CallFacts, Framing, JsonObject } from '../src/providers/provider.ts';
import { callFacts } from './call-facts.ts';
import { cut } from './cut.ts';
import type { Json } from './harness.ts';

export interface Spoken {
  /** The request that the family makes of a chat request. */
  asked(body: JsonObject): Json;
  /** The chat completion that it makes of a provider's answer. */
  answered(answer: unknown): Json;
  /** The chunks that it makes of a provider's stream, read in pieces of this size. */
  streamed(bytes: Uint8Array | string, pieceSize?: number): Json[];
}

export function spoken(
  family: ChatFamily,
  { framing = 'sse', ...more }: Partial<CallFacts> & { framing?: Framing } = {},
): Spoken {
  const { request, response, stream } = translate(chatFront, family);
  const facts = (body: JsonObject) => callFacts({ body, stream: body.stream === true, ...more });
  return {
    asked: (body) => request?.(facts(body)),
    answered: (answer) => response(answer, facts({}), { status: 200, headers: new Headers(), bytes: new Uint8Array() }),
    streamed(bytes, pieceSize = Number.POSITIVE_INFINITY) {
      const translator = stream?.(
        facts({
          messages: [{ role: 'user', content: 'Hello' }],
          stream: true,
          stream_options: { include_usage: true },
        }),
      );
      if (!translator) throw new Error('The family does not stream');
      const events = cut(bytes, framing, pieceSize).flatMap((event) => translator.event(event));
      return [...events, ...translator.end()].map(({ data }) => (data === '[DONE]' ? data : JSON.parse(data)));
    },
  };
}

/** What a client puts together from the chunks of one answer. */
export function assembled(chunks: readonly Json[]): Json {
  const message: Json = { content: '', reasoning_content: '', tool_calls: [] };
  let finish_reason = null;
  let usage = null;
  for (const chunk of chunks) {
    if (chunk === '[DONE]') continue;
    usage = chunk.usage ?? usage;
    for (const { delta, finish_reason: reason } of chunk.choices) {
      message.content += delta.content ?? '';
      message.reasoning_content += delta.reasoning_content ?? '';
      for (const { index, id, function: called } of delta.tool_calls ?? []) {
        message.tool_calls[index] ??= { id, name: called.name, arguments: '' };
        message.tool_calls[index].arguments += called.arguments ?? '';
      }
      finish_reason = reason ?? finish_reason;
    }
  }
  return { ...message, finish_reason, usage, done: chunks.at(-1) === '[DONE]' };
}
