/** Bytez: open models by their name, in a short dialect of its own. */
import type { ChatAnswer } from '../chat/answer.ts';
import type { Conversation, MediaPart, TextPart, Turn } from '../chat/conversation.ts';
import { ownExtras } from '../chat/extras.ts';
import { unsupported } from '../chat/media.ts';
import { joinedText } from '../chat/turns.ts';
import { inPath } from '../compatible/quirks/paths.ts';
import { ProviderFault } from '../faults.ts';
import { isObject, objectOf, objectsOf, present, textOf } from '../json.ts';
import { keyIn } from '../key-header.ts';
import type { JsonObject, Provider } from '../provider.ts';
import { plainAnswer, refuseBeyondText, refuseReasoning, withoutStreams } from './plain-chat.ts';

function request(conversation: Conversation): JsonObject {
  refuseBeyondText(conversation, 'Bytez');
  refuseReasoning(conversation, 'Bytez');
  const { stop } = conversation;
  return present({
    messages: conversation.turns.map((turn) => ({ role: turn.role, content: contentOf(turn) })),
    params: present({
      max_new_tokens: conversation.limit,
      temperature: conversation.temperature,
      top_p: conversation.topP,
      top_k: conversation.topK,
      stop: stop.length > 0 ? stop : null,
    }),
    ...ownExtras(conversation, 'Bytez'),
  });
}

function contentOf({ parts }: Turn): unknown {
  const shown = parts.flatMap((part) => (part.type === 'text' || part.type === 'media' ? [part] : []));
  return shown.every((part) => part.type === 'text') ? joinedText(shown) : shown.map(partOf);
}

function partOf(part: TextPart | MediaPart): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { kind, source, mime } = part;
  if (kind === 'document' || source.from === 'file' || source.from === 'text') {
    throw unsupported('messages', 'Bytez', 'a document');
  }
  return source.from === 'url'
    ? { type: kind, url: source.url }
    : { type: kind, base64: `data:${mime};base64,${source.base64}` };
}

/** The output is a message, its content, or bare text. */
function response(answer: unknown): ChatAnswer {
  const { error, output } = objectOf(answer);
  if (error) throw new ProviderFault(502, textOf(error) ?? JSON.stringify(error));
  const content = isObject(output) ? output.content : output;
  const pieces = objectsOf(content).map((part) => textOf(part.text) ?? '');
  return plainAnswer(Array.isArray(content) ? pieces.join('') : (textOf(content) ?? ''));
}

export const bytez: Provider = {
  id: 'bytez',
  name: 'Bytez',
  address: 'https://api.bytez.com',
  needsCredential: true,
  headers: keyIn('authorization', 'Key '),
  endpoints: {
    chatComplete: { path: ({ model }) => `/models/v2/${inPath(model)}`, chat: withoutStreams({ request, response }) },
  },
  notes: [
    'Answers do not stream, because the end of Bytez’ streams cannot be told; what they cost is not told either: tokens are estimated.',
  ],
};
