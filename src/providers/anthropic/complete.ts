/** The older text completions: a prompt in the form of a dialogue, and its continuation. */
import { refuseDemands } from '../completions.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { isObject, objectOf, parsed, present, textOf } from '../json.ts';
import type { CallFacts, JsonObject, ServerEvent, StreamTranslator, Translation } from '../provider.ts';
import { faultOf, finishOf } from './answer.ts';
import { traitsOf } from './model.ts';
import { stopSequences, userMetadata } from './request.ts';

export const completion: Translation = {
  request: writeCompletion,
  response: (answer, facts) => readCompletion(answer, facts),
  stream: (facts) => new CompletionTranslator(facts),
};

function writeCompletion({ body, model, stream }: CallFacts): JsonObject {
  const fields = new Fields(body);
  refuseDemands(fields, 'Anthropic', ['n', 'best_of', 'suffix', 'echo']);
  return present({
    model,
    prompt: dialogueOf(fields),
    max_tokens_to_sample: fields.number('max_tokens') ?? traitsOf(model).defaultLimit,
    stop_sequences: stopSequences(fields.texts('stop')),
    temperature: fields.number('temperature'),
    top_p: fields.number('top_p'),
    top_k: fields.number('top_k'),
    metadata: userMetadata(fields.text('user')),
    stream: stream ? true : null,
  });
}

function dialogueOf(fields: Fields): string {
  const prompts = fields.has('prompt') ? fields.texts('prompt') : [];
  const [prompt] = prompts;
  if (prompt === undefined) throw new RequestFault('prompt', 'prompt is missing');
  if (prompts.length > 1)
    throw new RequestFault('prompt', 'prompt must be one text: Anthropic completes one at a time');
  return prompt.startsWith('\n\nHuman:') ? prompt : `\n\nHuman: ${prompt}\n\nAssistant:`;
}

function readCompletion(answer: unknown, facts: CallFacts): JsonObject {
  const body = objectOf(answer);
  if (textOf(body.completion) === null) {
    throw new ProviderFault(502, `the answer is no completion: ${JSON.stringify(answer).slice(0, 500)}`);
  }
  return chunkOf(body, facts, textOf(body.id) ?? facts.newId('cmpl-'));
}

const chunkOf = (body: JsonObject, facts: CallFacts, id: string): JsonObject => ({
  id,
  object: 'text_completion',
  created: facts.now(),
  model: textOf(body.model) ?? facts.model,
  choices: [{ text: textOf(body.completion) ?? '', index: 0, logprobs: null, finish_reason: reasonOf(body, facts) }],
  provider: facts.provider,
});

function reasonOf({ stop_reason }: JsonObject, { strict }: CallFacts): string | null {
  const reason = textOf(stop_reason);
  return reason === null || !strict ? reason : finishOf(reason);
}

class CompletionTranslator implements StreamTranslator {
  readonly #facts: CallFacts;
  readonly #id: string;
  #stopped = false;

  constructor(facts: CallFacts) {
    this.#facts = facts;
    this.#id = facts.newId('cmpl-');
  }

  event({ data }: ServerEvent): ServerEvent[] {
    const json = parsed(data);
    if (!isObject(json)) throw new ProviderFault(502, 'the provider sent an event that cannot be read');
    if (json.type === 'error') throw faultOf(json) ?? new ProviderFault(502, data);
    if (json.type !== 'completion') return [];
    if (textOf(json.stop_reason) !== null) this.#stopped = true;
    return [{ event: null, data: JSON.stringify(chunkOf(json, this.#facts, this.#id)) }];
  }

  end(): ServerEvent[] {
    return this.#stopped ? [{ event: null, data: '[DONE]' }] : [];
  }
}
