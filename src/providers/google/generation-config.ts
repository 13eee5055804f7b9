/** What steers the generation: sampling, limits, format, modalities and thinking. */
import type { Conversation } from '../chat/conversation.ts';
import { isObject, listOf, objectOf, present, textOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';
import { isThirdGeneration, knowsJsonSchema, takesJsonSchema } from './generation.ts';
import { jsonSchema, needsJsonSchema, openApiSchema } from './schema.ts';
import { thinkingConfig } from './thinking.ts';

export function generationConfig(conversation: Conversation, strict: boolean, callsFunctions: boolean): JsonObject {
  const { logprobs, extras } = conversation;
  return present({
    temperature: conversation.temperature,
    topP: conversation.topP,
    topK: conversation.topK,
    seed: conversation.seed,
    maxOutputTokens: conversation.limit,
    stopSequences: conversation.stop.length > 0 ? conversation.stop : null,
    candidateCount: conversation.count > 1 ? conversation.count : null,
    frequencyPenalty: conversation.frequencyPenalty,
    presencePenalty: conversation.presencePenalty,
    responseLogprobs: logprobs ? true : null,
    logprobs: logprobs && logprobs.top > 0 ? logprobs.top : null,
    ...(asksInPrompt(conversation, callsFunctions) ? {} : formatOf(conversation)),
    responseModalities: modalitiesOf(extras),
    speechConfig: speechOf(extras),
    imageConfig: imageConfigOf(extras),
    mediaResolution: extras.media_resolution,
    thinkingConfig: thinkingConfig(conversation, strict),
    // Whoever writes in the provider's own words has the last one.
    ...objectOf(extras.generation_config ?? extras.generationConfig),
  });
}

/** Before the third generation a fixed format beside functions is refused: then the prompt must ask for it. */
const asksInPrompt = ({ format, model }: Conversation, callsFunctions: boolean): boolean =>
  format.type !== 'text' && callsFunctions && !isThirdGeneration(model);

/** What the prompt says where the format cannot be fixed; null where it can. */
export function formatRequest(conversation: Conversation, callsFunctions: boolean): string | null {
  if (!asksInPrompt(conversation, callsFunctions)) return null;
  const { format } = conversation;
  const plain = 'When you answer without calling a function, answer with JSON alone: no other text and no code fence.';
  return format.type === 'schema' ? `${plain} It follows this JSON Schema: ${JSON.stringify(format.schema)}` : plain;
}

function formatOf({ format, model }: Conversation): JsonObject {
  if (format.type === 'text') return {};
  const responseMimeType = 'application/json';
  if (format.type === 'json') return { responseMimeType };
  return takesJsonSchema(model) || (knowsJsonSchema(model) && needsJsonSchema(format.schema))
    ? { responseMimeType, responseJsonSchema: jsonSchema(format.schema) }
    : { responseMimeType, responseSchema: openApiSchema(format.schema) };
}

function modalitiesOf({ modalities }: Readonly<JsonObject>): string[] | null {
  const named = listOf(modalities).flatMap((one) => (typeof one === 'string' ? [one.toUpperCase()] : []));
  // Text alone is what every model answers with; some refuse to be told.
  return named.length === 0 || (named.length === 1 && named[0] === 'TEXT') ? null : named;
}

function speechOf({ audio, speech_config: speech }: Readonly<JsonObject>): JsonObject | null {
  if (isObject(speech)) return speech;
  const voice = textOf(objectOf(audio).voice);
  return voice === null ? null : voiceConfig(voice);
}

export const voiceConfig = (voiceName: string): JsonObject => ({
  voiceConfig: { prebuiltVoiceConfig: { voiceName } },
});

function imageConfigOf({ image_config: config }: Readonly<JsonObject>): JsonObject | null {
  if (!isObject(config)) return null;
  const { aspect_ratio, image_size, ...others } = config;
  return present({ aspectRatio: aspect_ratio, imageSize: image_size, ...others });
}
