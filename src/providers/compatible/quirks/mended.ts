/** Answers with their mends, for clients that speak OpenAI's dialect and for those that speak another. */
import type { ChatFamily } from '../../chat/family.ts';
import { EncodedBody } from '../../encoded-body.ts';
import { isObject, parsed } from '../../json.ts';
import { openAiFamilyWith } from '../../openai/family.ts';
import type { OpenAiVariant } from '../../openai/variant.ts';
import type { CallFacts, JsonObject, ServerEvent, Translation } from '../../provider.ts';
import type { Mend } from './answers.ts';

type Mended = (answer: JsonObject) => JsonObject;

const allOf = (mends: readonly Mend[], facts: CallFacts): Mended => {
  const ready = mends.map((mend) => mend(facts));
  return (answer) => ready.reduce((mended, mend) => mend(mended), answer);
};

/** The request travels as it is; of the answer only what differs is written anew. */
export const mended = (mends: readonly Mend[]): Translation => ({
  answersOnly: true,
  response(answer, facts, { bytes, headers }) {
    const made = isObject(answer) ? allOf(mends, facts)(answer) : answer;
    if (made !== answer && isObject(made)) return made;
    return new EncodedBody(headers.get('content-type') ?? 'application/json', Uint8Array.from(bytes));
  },
  stream(facts) {
    const mend = allOf(mends, facts);
    return { event: (event) => [mendedEvent(event, mend)], end: () => [] };
  },
});

/** What is no JSON object is left to whoever reads the stream. */
function mendedEvent(event: ServerEvent, mend: Mended): ServerEvent {
  const chunk = parsed(event.data);
  if (!isObject(chunk)) return event;
  const made = mend(chunk);
  return made === chunk ? event : { ...event, data: JSON.stringify(made) };
}

/** For clients of other dialects: mended, then read as OpenAI's. */
export function mendedFamily(mends: readonly Mend[], variant: OpenAiVariant = {}): ChatFamily {
  const family = openAiFamilyWith(variant);
  return {
    ...family,
    response: (answer, facts, raw) =>
      family.response(isObject(answer) ? allOf(mends, facts)(answer) : answer, facts, raw),
    reader(facts) {
      const mend = allOf(mends, facts);
      const reader = family.reader(facts);
      return { read: (event) => reader.read(mendedEvent(event, mend)), end: () => reader.end() };
    },
  };
}
