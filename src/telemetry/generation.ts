/** What the bodies of a call say of a generation: its parameters, why it ended, and on demand the messages themselves. */
import type { Attributes } from '@opentelemetry/api';
import { contentOf } from '../logs/content.ts';
import type { LogMessage, LogRecord } from '../logs/record.ts';
import { isObject, listOf, numberOf, objectOf, objectsOf, parsed, textOf } from '../providers/json.ts';
import type { JsonObject } from '../providers/provider.ts';
import { finishReason } from './conventions.ts';
import { inputMessages, outputMessages, systemInstructions } from './messages.ts';

/** A larger body is not parsed for a span. */
const parsedBytes = 256 * 1024;
const longestContent = 32_768;

const textEndpoints = new Set(['chatComplete', 'complete', 'messages', 'createModelResponse', 'embed']);

/** Nothing where the log keeps no bodies. */
export function generationAttributes({ metrics, bodies }: LogRecord, withContent: boolean): Attributes {
  if (!textEndpoints.has(metrics.endpoint_type)) return {};
  const request = jsonIn(bodies.request);
  const events = eventsIn(bodies.response);
  const answer = events ? null : jsonIn(bodies.response);
  return {
    ...(request && requestAttributes(request)),
    ...(metrics.is_success && answerAttributes(answer ? [answer] : (events ?? []))),
    ...(withContent && request && contentAttributes(request, answer ? [answer] : (events ?? []))),
  };
}

function jsonIn(message: LogMessage | null | undefined): JsonObject | null {
  if (!message?.body || message.body.length > parsedBytes) return null;
  const content = contentOf({ ...message, size: message.body.length });
  return content.form === 'json' && isObject(content.value) ? content.value : null;
}

/** The events of a stream; null where the answer was none. */
function eventsIn(message: LogMessage | null | undefined): JsonObject[] | null {
  if (!message?.body || message.body.length > parsedBytes) return null;
  if (!message.contentType.includes('event-stream')) return null;
  const content = contentOf({ ...message, size: message.body.length });
  if (content.form !== 'text') return null;
  return content.text.split('\n').flatMap((line) => {
    const event = line.startsWith('data:') ? parsed(line.slice(5)) : undefined;
    return isObject(event) ? [event] : [];
  });
}

const numbers: Readonly<Record<string, readonly string[]>> = {
  'gen_ai.request.temperature': ['temperature'],
  'gen_ai.request.top_p': ['top_p'],
  'gen_ai.request.top_k': ['top_k'],
  'gen_ai.request.max_tokens': ['max_completion_tokens', 'max_output_tokens', 'max_tokens'],
  'gen_ai.request.frequency_penalty': ['frequency_penalty'],
  'gen_ai.request.presence_penalty': ['presence_penalty'],
  'gen_ai.request.seed': ['seed'],
  'gen_ai.embeddings.dimension.count': ['dimensions'],
};

function requestAttributes(request: JsonObject): Attributes {
  const attributes: Attributes = {};
  for (const [name, fields] of Object.entries(numbers)) {
    for (const field of fields) {
      const value = numberOf(request[field]);
      if (value !== null) attributes[name] ??= value;
    }
  }
  const choices = numberOf(request.n);
  if (choices !== null && choices !== 1) attributes['gen_ai.request.choice.count'] = choices;
  const stop = stopSequences(request.stop ?? request.stop_sequences);
  if (stop.length > 0) attributes['gen_ai.request.stop_sequences'] = stop;
  const encoding = textOf(request.encoding_format);
  if (encoding !== null) attributes['gen_ai.request.encoding_formats'] = [encoding];
  const output = outputType(request);
  if (output !== null) attributes['gen_ai.output.type'] = output;
  return attributes;
}

const stopSequences = (stop: unknown): string[] =>
  (typeof stop === 'string' ? [stop] : listOf(stop)).filter((text) => typeof text === 'string').slice(0, 16);

function outputType({ response_format, text, modalities }: JsonObject): string | null {
  const format = textOf(objectOf(response_format).type) ?? textOf(objectOf(objectOf(text).format).type);
  if (listOf(modalities).includes('audio')) return 'speech';
  if (format === null) return null;
  return format.startsWith('json') ? 'json' : 'text';
}

/** From an answer, or from the events of one. */
function answerAttributes(parts: readonly JsonObject[]): Attributes {
  const reasons = new Map<number, string>();
  let id: string | null = null;
  for (const part of parts) {
    const whole = objectOf(part.response ?? part.message ?? part);
    id ??= textOf(whole.id);
    for (const [at, choice] of objectsOf(part.choices).entries()) {
      const told = textOf(choice.finish_reason);
      if (told !== null) reasons.set(numberOf(choice.index) ?? at, finishReason(told));
    }
    const told =
      textOf(objectOf(part.delta).stop_reason) ??
      textOf(whole.stop_reason) ??
      textOf(objectOf(whole.incomplete_details).reason) ??
      (whole.object === 'response' ? endedStatus(whole) : null);
    if (told !== null) reasons.set(0, finishReason(told));
  }
  return {
    ...(id !== null && { 'gen_ai.response.id': id }),
    ...(reasons.size > 0 && { 'gen_ai.response.finish_reasons': [...reasons.values()] }),
  };
}

const endedStatus = ({ status }: JsonObject): string | null =>
  status === 'completed' || status === 'failed' ? status : null;

/** As JSON texts, by the schemas of the conventions. */
function contentAttributes(request: JsonObject, parts: readonly JsonObject[]): Attributes {
  const system = systemInstructions(request);
  const output = outputMessages(parts);
  const tools = objectsOf(request.tools);
  return {
    'gen_ai.input.messages': asText(inputMessages(request)),
    ...(output.length > 0 && { 'gen_ai.output.messages': asText(output) }),
    ...(system.length > 0 && { 'gen_ai.system_instructions': asText(system) }),
    ...(tools.length > 0 && { 'gen_ai.tool.definitions': asText(tools.map(toolDefinition)) }),
  };
}

/** A list that is too long loses its first entries: the last ones say what was asked. */
function asText(list: readonly object[]): string {
  let from = 0;
  let text = JSON.stringify(list);
  while (text.length > longestContent && from < list.length) {
    from += Math.max(1, Math.floor((list.length - from) / 2));
    text = JSON.stringify(list.slice(from));
  }
  return text;
}

const toolDefinition = (tool: JsonObject): JsonObject => {
  const { name, description } = { ...tool, ...objectOf(tool.function) };
  return {
    type: textOf(tool.type) ?? 'function',
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
  };
};
