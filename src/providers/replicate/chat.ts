/** Chat on Replicate: most models take one text, those of OpenAI take messages. */
import type { Conversation, MediaPart, TextPart, Turn } from '../chat/conversation.ts';
import { ownExtras } from '../chat/extras.ts';
import { unsupported } from '../chat/media.ts';
import { hoisted, joinedText, mediaIn } from '../chat/turns.ts';
import { RequestFault } from '../faults.ts';
import { chatFront } from '../fronts/chat/chat.ts';
import { countOf, listOf, numberOf, present, textOf } from '../json.ts';
import { plainAnswer, refuseBeyondText } from '../own/plain-chat.ts';
import type { JsonObject, Steps, Usage } from '../provider.ts';
import { noUsage } from '../usage.ts';
import { predicted, tokensIn } from './prediction.ts';

export const chat: Steps = function* (facts) {
  const conversation = chatFront.read(facts);
  refuseBeyondText(conversation, 'Replicate');
  const prediction = yield* predicted(facts.model, inputOf(conversation));
  const { output } = prediction;
  const text = Array.isArray(output)
    ? listOf(output)
        .map((piece) => textOf(piece) ?? '')
        .join('')
    : textOf(output);
  const answer = plainAnswer(text ?? '', { id: textOf(prediction.id), usage: usageOf(prediction) });
  return chatFront.write(answer, facts);
};

export function inputOf(conversation: Conversation): JsonObject {
  const { reasoning, stop } = conversation;
  return present({
    ...(conversation.model.startsWith('openai/') ? asMessages(conversation) : asText(conversation)),
    [conversation.model.startsWith('openai/') ? 'max_completion_tokens' : 'max_tokens']: conversation.limit,
    temperature: conversation.temperature,
    top_p: conversation.topP,
    top_k: conversation.topK,
    seed: conversation.seed,
    frequency_penalty: conversation.frequencyPenalty,
    presence_penalty: conversation.presencePenalty,
    stop_sequences: stop.length > 0 ? stop.join(',') : null,
    reasoning_effort: reasoning && 'effort' in reasoning ? reasoning.effort : null,
    ...ownExtras(conversation, 'Replicate'),
  });
}

const asMessages = ({ turns }: Conversation): JsonObject => ({
  messages: turns.map((turn) => ({ role: turn.role, content: contentOf(turn) })),
});

function contentOf({ parts }: Turn): unknown {
  const shown = parts.flatMap((part) => (part.type === 'text' || part.type === 'media' ? [part] : []));
  return shown.every((part) => part.type === 'text') ? joinedText(shown) : shown.map(partOf);
}

const partOf = (part: TextPart | MediaPart): JsonObject =>
  part.type === 'text' ? { type: 'text', text: part.text } : { type: 'image_url', image_url: { url: imageOf(part) } };

function imageOf({ kind, source, mime }: MediaPart): string {
  if (kind === 'image' && source.from === 'url') return source.url;
  if (kind === 'image' && source.from === 'data') return `data:${mime ?? 'image/png'};base64,${source.base64}`;
  throw unsupported('messages', 'Replicate', `a ${kind}`);
}

/** One question goes as it is; of a longer talk everyone's words are marked with who said them. */
function asText(conversation: Conversation): JsonObject {
  const { system, turns } = hoisted(conversation);
  const images = mediaIn(conversation).map(imageOf);
  if (images.length > 1) throw new RequestFault('messages', 'this model looks at one image');
  const [only] = turns;
  const prompt =
    turns.length === 1 && only
      ? joinedText(only.parts)
      : [
          ...turns.map(({ role, parts }) => `${role === 'user' ? 'User' : 'Assistant'}: ${joinedText(parts)}`),
          'Assistant:',
        ].join('\n\n');
  return present({ prompt, system_prompt: joinedText(system) || null, image: images.at(0) });
}

function usageOf(prediction: JsonObject): Usage | null {
  const { input, output } = tokensIn(prediction);
  if (numberOf(input) === null && numberOf(output) === null) return null;
  return { ...noUsage, inputTokens: countOf(input), outputTokens: countOf(output) };
}
