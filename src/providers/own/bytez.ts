/** Bytez: open models by their name, in a short dialect of its own. */
import type { ChatAnswer } from '../chat/answer.ts';
import type { Conversation, MediaPart, TextPart, Turn } from '../chat/conversation.ts';
import { unsupported } from '../chat/media.ts';
import { joinedText } from '../chat/turns.ts';
import { inTurn, limitAsMaxTokens, without } from '../compatible/quirks/parameters.ts';
import { inPath } from '../compatible/quirks/paths.ts';
import { ProviderFault } from '../faults.ts';
import { isObject, objectOf, objectsOf, present, textOf } from '../json.ts';
import { keyIn } from '../key-header.ts';
import { openAiFamily } from '../openai/family.ts';
import type { JsonObject, Provider, ProviderEndpoint } from '../provider.ts';
import { plainAnswer, textOnly, withoutStreams } from './plain-chat.ts';

function request(conversation: Conversation): JsonObject {
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
    ...conversation.extras,
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

const whole: ProviderEndpoint = {
  path: ({ model }) => `/models/v2/${inPath(model)}`,
  chat: textOnly(withoutStreams({ request, response }), 'Bytez'),
};

/** Its own streams are bare text, whose end is no different from a failure; those of its other surface say that they are done. */
const streamed: ProviderEndpoint = {
  path: '/models/v2/openai/v1/chat/completions',
  chat: textOnly(openAiFamily, 'Bytez'),
  adjust: inTurn([limitAsMaxTokens, without('stream_options')]),
};

export const bytez: Provider = {
  id: 'bytez',
  name: 'Bytez',
  address: 'https://api.bytez.com',
  needsCredential: true,
  headers: keyIn('authorization', 'Key '),
  endpoints: { chatComplete: ({ stream }) => (stream ? streamed : whole) },
  notes: [
    'What an answer cost is not told: its tokens are estimated.',
    'Streams come from Bytez’ surface in OpenAI’s dialect (/models/v2/openai/v1): those of its own are bare text, whose end cannot be told from a failure.',
  ],
};
