/** An answer of Converse, read. */
import type { Annotation, AnswerPart, ChatAnswer, FinishReason } from '../chat/answer.ts';
import { unfolded } from '../chat/answer-tool.ts';
import { finishIn } from '../chat/finish.ts';
import { ProviderFault } from '../faults.ts';
import { countOf, isObject, objectOf, objectsOf, present, textOf } from '../json.ts';
import type { JsonObject, RawAnswer, Usage } from '../provider.ts';
import { noUsage } from '../usage.ts';

export function readConverse(answer: unknown, { headers }: Pick<RawAnswer, 'headers'>): ChatAnswer {
  const body = objectOf(answer);
  const message = objectOf(body.output).message;
  if (!isObject(message)) {
    throw new ProviderFault(502, `the answer holds no message: ${JSON.stringify(answer).slice(0, 500)}`);
  }
  const blocks = objectsOf(message.content);
  const reason = textOf(body.stopReason);
  return unfolded({
    id: headers.get('x-amzn-requestid'),
    model: null,
    created: null,
    choices: [
      {
        index: 0,
        parts: blocks.flatMap(partsOf),
        finish: finishOf(reason),
        providerFinish: reason,
        stopSequence: stopSequenceOf(body),
        logprobs: null,
        annotations: blocks.flatMap(citationsOf),
        extras: {},
      },
    ],
    usage: usageOf(body.usage),
    extras: extrasOf(body),
  });
}

function partsOf(block: JsonObject): AnswerPart[] {
  if (typeof block.text === 'string') return block.text === '' ? [] : [{ type: 'text', text: block.text }];
  if (isObject(block.toolUse)) return callOf(block, block.toolUse);
  if (isObject(block.reasoningContent)) return [thoughtOf(block.reasoningContent)];
  if (isObject(block.citationsContent)) {
    const text = objectsOf(block.citationsContent.content).map((part) => textOf(part.text) ?? '');
    return [{ type: 'text', text: text.join('') }];
  }
  if (isObject(block.image)) return imageOf(block.image);
  return [{ type: 'block', block }];
}

/** A tool that the platform runs itself is none of the client's. */
const callOf = (block: JsonObject, call: JsonObject): AnswerPart[] =>
  call.type === 'server_tool_use'
    ? [{ type: 'block', block }]
    : [
        {
          type: 'tool-call',
          id: textOf(call.toolUseId) ?? '',
          name: textOf(call.name) ?? '',
          arguments: JSON.stringify(objectOf(call.input)),
          signature: null,
        },
      ];

function thoughtOf(content: JsonObject): AnswerPart {
  const redacted = textOf(content.redactedContent);
  if (redacted !== null) return { type: 'redacted-thinking', content: redacted };
  const { text, signature } = objectOf(content.reasoningText);
  return { type: 'thinking', text: textOf(text) ?? '', signature: textOf(signature) };
}

function imageOf(image: JsonObject): AnswerPart[] {
  const base64 = textOf(objectOf(image.source).bytes);
  if (base64 === null) return [];
  const source = { from: 'data', base64 } as const;
  const mime = `image/${textOf(image.format) ?? 'png'}`;
  return [{ type: 'media', kind: 'image', mime, source, name: null, detail: null, cache: null }];
}

const citationsOf = ({ citationsContent }: JsonObject): Annotation[] =>
  objectsOf(objectOf(citationsContent).citations).flatMap(annotationOf);

/** A page on the web, in OpenAI's form; places in documents have no such form. */
export function annotationOf({ location, title }: JsonObject): Annotation[] {
  const url = textOf(objectOf(objectOf(location).web).url);
  return url === null ? [] : [{ type: 'url_citation', url_citation: present({ url, title }) }];
}

const finishes: ReadonlyMap<string, FinishReason> = new Map(
  Object.entries<FinishReason>({
    end_turn: 'stop',
    stop_sequence: 'stop',
    tool_use: 'tool_calls',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    guardrail_intervened: 'content_filter',
    content_filtered: 'content_filter',
    malformed_model_output: 'stop',
    malformed_tool_use: 'stop',
  }),
);

export const finishOf = (reason: string | null): FinishReason => finishIn(finishes, reason);

export const stopSequenceOf = ({ additionalModelResponseFields: more }: JsonObject): string | null =>
  textOf(objectOf(more).stop_sequence);

/** What the cache read and wrote is counted beside the input. */
export function usageOf(raw: unknown): Usage | null {
  if (!isObject(raw)) return null;
  const read = countOf(raw.cacheReadInputTokens);
  const written = countOf(raw.cacheWriteInputTokens);
  const longLived = objectsOf(raw.cacheDetails)
    .filter(({ ttl }) => ttl === '1h')
    .reduce((sum, { inputTokens }) => sum + countOf(inputTokens), 0);
  return {
    ...noUsage,
    inputTokens: countOf(raw.inputTokens) + read + written,
    outputTokens: countOf(raw.outputTokens),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    units: longLived > 0 ? { cache_write_1h: Math.min(longLived, written) } : {},
  };
}

export const extrasOf = (body: JsonObject): JsonObject =>
  present({
    metrics: body.metrics,
    trace: body.trace,
    additionalModelResponseFields: body.additionalModelResponseFields,
    performanceConfig: body.performanceConfig,
    serviceTier: body.serviceTier,
  });
