/** Cohere's answers, read into ours. */
import type { Annotation, AnswerPart, ChatAnswer, FinishReason } from '../chat/answer.ts';
import { finishIn } from '../chat/finish.ts';
import { ProviderFault } from '../faults.ts';
import { countOf, isObject, listOf, numberOf, objectOf, objectsOf, textOf } from '../json.ts';
import type { JsonObject, Usage } from '../provider.ts';
import { noUsage } from '../usage.ts';

export function readAnswer(answer: unknown, newId: (prefix: string) => string): ChatAnswer {
  const body = objectOf(answer);
  if (!isObject(body.message)) {
    throw new ProviderFault(502, `the answer has no message: ${JSON.stringify(answer).slice(0, 500)}`);
  }
  const message = objectOf(body.message);
  const reason = textOf(body.finish_reason);
  const citations = objectsOf(message.citations);
  return {
    id: textOf(body.id),
    model: null,
    created: null,
    choices: [
      {
        index: 0,
        parts: [...planOf(message), ...saidIn(message), ...callsOf(message, newId)],
        finish: finishOf(reason),
        providerFinish: reason,
        stopSequence: null,
        logprobs: logprobsOf(body.logprobs),
        annotations: citations.flatMap(annotationsOf),
        extras: {},
      },
    ],
    usage: readUsage(body.usage),
    extras: citations.length > 0 ? { citations } : {},
  };
}

const finishes: ReadonlyMap<string, FinishReason> = new Map(
  Object.entries<FinishReason>({
    COMPLETE: 'stop',
    STOP_SEQUENCE: 'stop',
    MAX_TOKENS: 'length',
    TOOL_CALL: 'tool_calls',
    ERROR_TOXIC: 'content_filter',
  }),
);

/** An answer that the model did not finish is none. */
export function finishOf(reason: string | null, words: string | null = null): FinishReason {
  if (reason === 'ERROR') throw new ProviderFault(502, words ?? 'the model failed while it answered');
  if (reason === 'TIMEOUT') throw new ProviderFault(504, words ?? 'the model took too long to answer');
  return finishIn(finishes, reason);
}

/** A plan for the calls that follow is a thought. */
function planOf(message: JsonObject): AnswerPart[] {
  const text = textOf(message.tool_plan);
  return text ? [{ type: 'thinking', text, signature: null }] : [];
}

const saidIn = (message: JsonObject): AnswerPart[] =>
  objectsOf(message.content).flatMap((block): AnswerPart[] => {
    const thought = textOf(block.thinking);
    if (thought) return [{ type: 'thinking', text: thought, signature: null }];
    const text = textOf(block.text);
    return text ? [{ type: 'text', text }] : [];
  });

const callsOf = (message: JsonObject, newId: (prefix: string) => string): AnswerPart[] =>
  objectsOf(message.tool_calls).map((call) => {
    const called = objectOf(call.function);
    return {
      type: 'tool-call',
      id: textOf(call.id) || newId('call_'),
      name: textOf(called.name) ?? '',
      arguments: textOf(called.arguments) || '{}',
      signature: null,
    };
  });

/** What was read and written; where that is not told, what is charged. */
export function readUsage(raw: unknown): Usage | null {
  if (!isObject(raw)) return null;
  const counted = isObject(raw.tokens) ? raw.tokens : objectOf(raw.billed_units);
  return {
    ...noUsage,
    inputTokens: countOf(counted.input_tokens),
    outputTokens: countOf(counted.output_tokens),
    cacheReadTokens: countOf(raw.cached_tokens),
  };
}

/** A source on the web is a citation in OpenAI's form; the others are shown where answers need not be strict. */
export const annotationsOf = (citation: JsonObject): Annotation[] =>
  objectsOf(citation.sources).flatMap((source) => {
    const { url, title } = objectOf(source.document);
    if (typeof url !== 'string') return [];
    return [
      {
        type: 'url_citation',
        url_citation: {
          url,
          title: textOf(title) ?? url,
          start_index: countOf(citation.start),
          end_index: countOf(citation.end),
        },
      },
    ];
  });

/** An entry may stand for several tokens: then its probability is that of all of them. */
export function logprobsOf(raw: unknown): JsonObject | null {
  const entries = isObject(raw) ? [raw] : objectsOf(raw);
  if (entries.length === 0) return null;
  return {
    content: entries.map((entry) => {
      const token = textOf(entry.text) ?? '';
      const logprob = listOf(entry.logprobs).reduce<number>((sum, value) => sum + (numberOf(value) ?? 0), 0);
      return { token, logprob, bytes: [...new TextEncoder().encode(token)], top_logprobs: [] };
    }),
    refusal: null,
  };
}
