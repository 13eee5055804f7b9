/** A response, read into an answer. */
import type { Annotation, AnswerPart, ChatAnswer, FinishReason } from '../../chat/answer.ts';
import { faultIn, ProviderFault } from '../../faults.ts';
import { isObject, numberOf, objectOf, objectsOf, textOf } from '../../json.ts';
import type { JsonObject } from '../../provider.ts';
import { readResponseUsage } from '../../usage.ts';
import { proofOf } from './proof.ts';

export function readAnswer(answer: unknown): ChatAnswer {
  const body = objectOf(answer);
  if (isObject(body.error)) throw failureOf(body);
  if (!Array.isArray(body.output)) {
    throw new ProviderFault(502, `the answer has no output: ${JSON.stringify(answer).slice(0, 500)}`);
  }
  const items = objectsOf(body.output);
  const parts = items.flatMap(partsOf);
  const texts = items.flatMap(({ content }) => objectsOf(content)).filter(({ type }) => type === 'output_text');
  const logprobs = texts.flatMap((text) => objectsOf(text.logprobs));
  const called = parts.some(({ type }) => type === 'tool-call');
  return {
    id: textOf(body.id),
    model: textOf(body.model),
    created: numberOf(body.created_at),
    choices: [
      {
        index: 0,
        parts,
        finish: finishOf(body, called),
        providerFinish: textOf(objectOf(body.incomplete_details).reason),
        stopSequence: null,
        logprobs: logprobs.length > 0 ? { content: logprobs } : null,
        annotations: texts.flatMap(({ annotations }) => objectsOf(annotations)).map(nested),
        extras: {},
      },
    ],
    usage: readResponseUsage(body),
    extras: {},
  };
}

/** A response that failed says so with status 200. */
export const failureOf = (body: JsonObject): ProviderFault =>
  faultIn(502, { error: body.error }) ?? new ProviderFault(502, 'the response failed');

/** Chat keeps what an annotation says under the name of its kind. */
export function nested(annotation: JsonObject): Annotation {
  const { type, ...rest } = annotation;
  const kind = textOf(type) ?? 'annotation';
  return { type: kind, [kind]: rest };
}

export function finishOf(body: JsonObject, called: boolean): FinishReason {
  if (body.status === 'incomplete') {
    return objectOf(body.incomplete_details).reason === 'content_filter' ? 'content_filter' : 'length';
  }
  return called ? 'tool_calls' : 'stop';
}

/** Several parts of a summary are paragraphs. */
export const betweenParts = '\n\n';

export const signatureOf = ({ id, encrypted_content: encrypted }: JsonObject): string | null =>
  textOf(id) && textOf(encrypted) ? proofOf(textOf(id) ?? '', textOf(encrypted) ?? '') : null;

function partsOf(item: JsonObject): AnswerPart[] {
  switch (item.type) {
    case 'message':
      return objectsOf(item.content).flatMap(messagePart);
    case 'reasoning': {
      const text = objectsOf(item.summary)
        .map((part) => textOf(part.text) ?? '')
        .join(betweenParts);
      const signature = signatureOf(item);
      return text === '' && signature === null ? [] : [{ type: 'thinking', text, signature }];
    }
    case 'function_call':
      return [
        {
          type: 'tool-call',
          id: textOf(item.call_id) ?? '',
          name: textOf(item.name) ?? '',
          arguments: textOf(item.arguments) || '{}',
          signature: null,
        },
      ];
    default:
      return [];
  }
}

function messagePart(part: JsonObject): AnswerPart[] {
  const text = textOf(part.text);
  const refusal = textOf(part.refusal);
  if (part.type === 'refusal') return refusal ? [{ type: 'refusal', text: refusal }] : [];
  return text ? [{ type: 'text', text }] : [];
}
