/** Completions of text in OpenAI's form, whole and piece by piece. */
import { RequestFault } from './faults.ts';
import type { Fields } from './fields.ts';
import { present } from './json.ts';
import type { CallFacts, JsonObject, ServerEvent } from './provider.ts';

interface CompletedText {
  index: number;
  text: string;
  /** Why it ends; null where it goes on. */
  finish: string | null;
}

/** What a completion may be asked for beside a text, and whether it is. */
const demands = {
  n: (body: Fields) => (body.number('n') ?? 1) > 1,
  best_of: (body: Fields) => (body.number('best_of') ?? 1) > 1,
  stop: (body: Fields) => body.texts('stop').length > 0,
  echo: (body: Fields) => body.flag('echo') === true,
  suffix: (body: Fields) => (body.text('suffix') ?? '') !== '',
  logprobs: (body: Fields) => body.number('logprobs') !== null,
};

type Demand = keyof typeof demands;

/** Left out, each of these would change what comes back: a model that does not know it refuses. */
export function refuseDemands(body: Fields, who: string, unknown: readonly Demand[]): void {
  for (const name of unknown) {
    if (demands[name](body)) throw new RequestFault(name, `${name}: ${who} has no such thing for completions`);
  }
}

export const completionUsage = (input: number, output: number): JsonObject => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
});

export const completionAnswer = (
  { model, provider, now }: CallFacts,
  id: string,
  texts: readonly CompletedText[],
  usage: JsonObject | null,
): JsonObject =>
  present({
    id,
    object: 'text_completion',
    created: now(),
    model,
    choices: texts.map(({ index, text, finish }) => ({ index, text, logprobs: null, finish_reason: finish })),
    usage,
    provider,
  });

/** The pieces of one streamed completion. Nothing is finished before `last`. */
export class CompletionPieces {
  readonly #facts: CallFacts;
  readonly #id: string;

  constructor(facts: CallFacts) {
    this.#facts = facts;
    this.#id = facts.newId('cmpl-');
  }

  said(text: string | null, index = 0): ServerEvent[] {
    return text ? [this.#piece([{ index, text, finish: null }], null)] : [];
  }

  last(ends: readonly Omit<CompletedText, 'text'>[], usage: JsonObject | null): ServerEvent[] {
    const texts = ends.map((end) => ({ ...end, text: '' }));
    return [this.#piece(texts, usage), { event: null, data: '[DONE]' }];
  }

  #piece(texts: readonly CompletedText[], usage: JsonObject | null): ServerEvent {
    return { event: null, data: JSON.stringify(completionAnswer(this.#facts, this.#id, texts, usage)) };
  }
}
