/** Reka: chat between a human and a model who take turns. */
import type { ChatAnswer } from '../chat/answer.ts';
import type { AssistantTurn, Conversation, UserTurn } from '../chat/conversation.ts';
import { unsupported } from '../chat/media.ts';
import { hoisted, joinedText } from '../chat/turns.ts';
import { limitAsMaxTokens } from '../compatible/quirks/parameters.ts';
import { RequestFault } from '../faults.ts';
import { countOf, numberOf, objectOf, present, textOf } from '../json.ts';
import { bearer, keyIn } from '../key-header.ts';
import { openAiFamily } from '../openai/family.ts';
import type { JsonObject, Provider, ProviderEndpoint } from '../provider.ts';
import { noUsage } from '../usage.ts';
import { plainAnswer, textOnly, withoutStreams } from './plain-chat.ts';

function request(conversation: Conversation): JsonObject {
  const { stop } = conversation;
  return present({
    model_name: conversation.model,
    conversation_history: historyOf(conversation),
    request_output_len: conversation.limit,
    temperature: conversation.temperature,
    runtime_top_p: conversation.topP,
    runtime_top_k: conversation.topK,
    random_seed: conversation.seed,
    frequency_penalty: conversation.frequencyPenalty,
    presence_penalty: conversation.presencePenalty,
    stop_words: stop.length > 0 ? stop : null,
    ...conversation.extras,
  });
}

/** System text opens what the human says; a conversation that the model opens is none. */
function historyOf(conversation: Conversation): JsonObject[] {
  const { system, turns } = hoisted(conversation);
  const [first] = turns;
  if (first?.role !== 'user') throw new RequestFault('messages', 'Reka wants the user to speak first');
  const opening = joinedText(system);
  const images = turns.flatMap(({ parts }) => parts.filter((part) => part.type === 'media'));
  if (images.length > 1 || (images.length > 0 && !first.parts.some((part) => part.type === 'media'))) {
    throw new RequestFault('messages', 'Reka looks at one image, in the first message');
  }
  return turns.map((turn, index) => entryOf(turn, index === 0 && opening !== '' ? `${opening}\n\n` : ''));
}

function entryOf({ role, parts }: UserTurn | AssistantTurn, opening: string): JsonObject {
  const shown = parts.find((part) => part.type === 'media');
  if (shown && (shown.kind !== 'image' || shown.source.from === 'file' || shown.source.from === 'text')) {
    throw unsupported('messages', 'Reka', `a ${shown.kind}`);
  }
  const address =
    shown?.source.from === 'url'
      ? shown.source.url
      : shown?.source.from === 'data'
        ? `data:${shown.mime ?? 'image/png'};base64,${shown.source.base64}`
        : null;
  return present({ type: role === 'user' ? 'human' : 'model', text: opening + joinedText(parts), media_url: address });
}

function response(answer: unknown): ChatAnswer {
  const { text, finish_reason, metadata } = objectOf(answer);
  const reason = textOf(finish_reason);
  const { input_tokens, generated_tokens } = objectOf(metadata);
  return plainAnswer(textOf(text) ?? '', {
    finish: reason === null || reason === 'stop' ? 'stop' : 'length',
    providerFinish: reason,
    usage:
      numberOf(input_tokens) === null
        ? null
        : { ...noUsage, inputTokens: countOf(input_tokens), outputTokens: countOf(generated_tokens) },
  });
}

const whole: ProviderEndpoint = { path: '/chat', chat: textOnly(withoutStreams({ request, response }), 'Reka') };

/** The older dialect does not stream; the newer one is OpenAI's, and reads its key as OpenAI does. */
const streamed: ProviderEndpoint = {
  path: '/v1/chat/completions',
  headers: bearer,
  chat: textOnly(openAiFamily, 'Reka'),
  adjust: limitAsMaxTokens,
};

export const rekaAi: Provider = {
  id: 'reka-ai',
  name: 'Reka',
  address: 'https://api.reka.ai',
  needsCredential: true,
  headers: keyIn('x-api-key'),
  endpoints: { chatComplete: ({ stream }) => (stream ? streamed : whole) },
  notes: [
    'No tools; one image, in the first message. System text opens what the user says.',
    'Streams come from Reka’s surface in OpenAI’s dialect (/v1/chat/completions): the older one has none.',
  ],
};
