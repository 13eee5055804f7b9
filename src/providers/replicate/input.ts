/** What a model on Replicate is given: most take one text, those of OpenAI take messages; each vendor has words of its own. */
import type { Conversation, MediaPart, TextPart, Turn } from '../chat/conversation.ts';
import { ownExtras } from '../chat/extras.ts';
import { unsupported } from '../chat/media.ts';
import { hoisted, joinedText, mediaIn } from '../chat/turns.ts';
import { RequestFault } from '../faults.ts';
import { present } from '../json.ts';
import type { JsonObject } from '../provider.ts';
import { thinkingOf } from './thinking.ts';

export function inputOf(conversation: Conversation): JsonObject {
  const { stop, model } = conversation;
  const { limit } = wordsFor(model);
  return present({
    ...(model.startsWith('openai/') ? asMessages(conversation) : asText(conversation)),
    [limit]: conversation.limit,
    temperature: conversation.temperature,
    top_p: conversation.topP,
    top_k: conversation.topK,
    seed: conversation.seed,
    frequency_penalty: conversation.frequencyPenalty,
    presence_penalty: conversation.presencePenalty,
    stop_sequences: stop.length > 0 ? stop.join(',') : null,
    ...thinkingOf(conversation),
    ...ownExtras(conversation, 'Replicate'),
  });
}

interface Words {
  limit: string;
  system: string;
  /** Takes several, as a list under this name; null: one, as `image`. */
  images: string | null;
}

const usual: Words = { limit: 'max_tokens', system: 'system_prompt', images: null };
const gemini: Words = { limit: 'max_output_tokens', system: 'system_instruction', images: 'images' };

function wordsFor(model: string): Words {
  if (model.startsWith('openai/')) return { ...usual, limit: 'max_completion_tokens' };
  return model.startsWith('google/gemini') ? gemini : usual;
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
  const words = wordsFor(conversation.model);
  const [only] = turns;
  const prompt =
    turns.length === 1 && only
      ? joinedText(only.parts)
      : [
          ...turns.map(({ role, parts }) => `${role === 'user' ? 'User' : 'Assistant'}: ${joinedText(parts)}`),
          'Assistant:',
        ].join('\n\n');
  return { prompt, [words.system]: joinedText(system) || null, ...shownTo(conversation, words) };
}

function shownTo(conversation: Conversation, { images: list }: Words): JsonObject {
  const images = mediaIn(conversation).map(imageOf);
  if (list !== null) return { [list]: images.length > 0 ? images : null };
  if (images.length > 1) throw new RequestFault('messages', 'this model looks at one image');
  return { image: images.at(0) };
}
