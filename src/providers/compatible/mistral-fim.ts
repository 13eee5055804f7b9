/** Mistral's parameters, and completions by filling in the middle: asked for in the older form, answered by Mistral as chat. */
import { refuseDemands } from '../completions.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { isObject, objectOf, objectsOf, parsed, textOf } from '../json.ts';
import type { CallFacts, JsonObject, Translation } from '../provider.ts';
import { contentAsText, finishReasons } from './quirks/answers.ts';
import { inTurn, limitAsMaxTokens, renamed, without } from './quirks/parameters.ts';

export const mistralParameters = inTurn([
  limitAsMaxTokens,
  renamed('seed', 'random_seed'),
  renamed('safe_mode', 'safe_prompt'),
  without('user', 'logit_bias', 'logprobs', 'top_logprobs', 'stream_options', 'store', 'service_tier'),
]);

export const fillInTheMiddle: Translation = {
  request(facts) {
    const { prompt } = facts.body;
    const text = Array.isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt;
    if (typeof text !== 'string') throw new RequestFault('prompt', 'prompt must be one text for this provider');
    refuseDemands(new Fields(facts.body), 'Mistral', ['n', 'best_of', 'echo']);
    const asked = without('echo', 'best_of', 'n')({ ...facts.body, prompt: text, model: facts.model }, facts);
    return { ...mistralParameters(asked, facts) };
  },
  response(answer, facts) {
    if (!Array.isArray(objectOf(answer).choices)) throw new ProviderFault(502, 'the answer has no choices');
    return asCompletion(objectOf(answer), facts);
  },
  stream: (facts) => ({
    event(event) {
      const chunk = parsed(event.data);
      return [isObject(chunk) && Array.isArray(chunk.choices) ? { ...event, data: written(chunk, facts) } : event];
    },
    end: () => [],
  }),
};

const written = (chunk: JsonObject, facts: CallFacts): string => JSON.stringify(asCompletion(chunk, facts));

function asCompletion(answer: JsonObject, facts: CallFacts): JsonObject {
  const plain = contentAsText(facts)(finishReasons(facts)(answer));
  return {
    ...plain,
    object: 'text_completion',
    choices: objectsOf(plain.choices).map(({ index, message, delta, finish_reason }) => ({
      text: textOf(objectOf(message ?? delta).content) ?? '',
      index,
      logprobs: null,
      finish_reason: finish_reason ?? null,
    })),
    provider: facts.provider,
  };
}
