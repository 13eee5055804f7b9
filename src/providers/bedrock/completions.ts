/** Text completions by InvokeModel, for the models that still have them: each vendor's own body and words. */
import { refuseDemands } from '../completions.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { countOf, isObject, listOf, numberOf, objectOf, objectsOf, parsed, present, textOf } from '../json.ts';
import type {
  CallFacts,
  JsonObject,
  ProviderEndpoint,
  RawAnswer,
  ServerEvent,
  StreamTranslator,
  Translation,
} from '../provider.ts';
import { unwrapped } from './claude.ts';
import { modelId, modelPath } from './model.ts';

/** What is asked of every vendor. */
interface Asked {
  prompt: string;
  limit: number | null;
  temperature: number | null;
  topP: number | null;
  topK: number | null;
  stop: readonly string[] | null;
  count: number;
}

interface Completed {
  text: string;
  reason: string | null;
}

interface Vendor {
  body(asked: Asked): JsonObject;
  /** The completions in an answer, or the piece in a record of a stream. */
  read(answer: JsonObject): Completed[];
  severalAtOnce?: boolean;
  /** Cannot be told where to stop. */
  neverStops?: boolean;
}

const alone = (text: unknown, reason: unknown): Completed[] => [{ text: textOf(text) ?? '', reason: textOf(reason) }];

const titan: Vendor = {
  body: ({ prompt, limit, temperature, topP, stop }) => ({
    inputText: prompt,
    textGenerationConfig: present({ maxTokenCount: limit, stopSequences: stop, temperature, topP }),
  }),
  read: (answer) => {
    const [first] = objectsOf(answer.results);
    const { outputText, completionReason } = first ?? answer;
    return alone(outputText, completionReason);
  },
};

const llama: Vendor = {
  body: ({ prompt, limit, temperature, topP }) => present({ prompt, max_gen_len: limit, temperature, top_p: topP }),
  read: ({ generation, stop_reason }) => alone(generation, stop_reason),
  neverStops: true,
};

const mistral: Vendor = {
  body: ({ prompt, limit, temperature, topP, topK, stop }) =>
    present({ prompt, max_tokens: limit, temperature, top_p: topP, top_k: topK, stop }),
  read: ({ outputs }) => objectsOf(outputs).flatMap(({ text, stop_reason }) => alone(text, stop_reason)),
};

const cohere: Vendor = {
  body: ({ prompt, limit, temperature, topP, topK, stop, count }) =>
    present({ prompt, max_tokens: limit, temperature, p: topP, k: topK, stop_sequences: stop, num_generations: count }),
  read: (answer) =>
    Array.isArray(answer.generations)
      ? objectsOf(answer.generations).flatMap(({ text, finish_reason }) => alone(text, finish_reason))
      : alone(answer.text, answer.finish_reason),
  severalAtOnce: true,
};

const ai21: Vendor = {
  body: ({ prompt, limit, temperature, topP, stop, count }) =>
    present({ prompt, maxTokens: limit, temperature, topP, stopSequences: stop, numResults: count }),
  read: ({ completions }) =>
    objectsOf(completions).flatMap(({ data, finishReason }) =>
      alone(objectOf(data).text, objectOf(finishReason).reason),
    ),
  severalAtOnce: true,
};

const claudeLimit = 4_096;

const claude: Vendor = {
  body: ({ prompt, limit, temperature, topP, topK, stop }) =>
    present({
      prompt: prompt.startsWith('\n\nHuman:') ? prompt : `\n\nHuman: ${prompt}\n\nAssistant:`,
      max_tokens_to_sample: limit ?? claudeLimit,
      temperature,
      top_p: topP,
      top_k: topK,
      stop_sequences: stop,
    }),
  read: ({ completion, stop_reason }) => alone(completion, stop_reason),
};

const vendors: readonly (readonly [models: RegExp, vendor: Vendor])[] = [
  [/^amazon\.titan-(?:text|tg1)/, titan],
  [/^meta\.llama/, llama],
  [/^mistral\.(?:mistral-7b|mixtral|mistral-large-2402|mistral-small-2402)/, mistral],
  [/^cohere\.command-(?:text|light)/, cohere],
  [/^ai21\.j2/, ai21],
  [/^anthropic\.claude-(?:v2|instant)/, claude],
];

export function completions(facts: CallFacts): ProviderEndpoint | null {
  const id = modelId(facts);
  const vendor = vendors.find(([models]) => models.test(id))?.[1];
  if (!vendor) return null;
  return {
    path: modelPath(facts, facts.stream ? 'invoke-with-response-stream' : 'invoke'),
    translation: translationOf(vendor),
    framing: 'aws',
  };
}

const translationOf = (vendor: Vendor): Translation => ({
  request: (facts) => {
    const asked = readAsked(new Fields(facts.body), vendor, facts.stream);
    return { ...vendor.body(asked), ...(facts.stream && vendor === cohere && { stream: true }) };
  },
  response: (answer, facts, raw) => ({
    ...written(vendor.read(objectOf(answer)), facts, facts.newId('cmpl-')),
    usage: usageOf(raw, objectOf(answer)),
  }),
  stream: (facts) => new CompletionTranslator(vendor, facts),
});

function readAsked(fields: Fields, { severalAtOnce, neverStops }: Vendor, stream: boolean): Asked {
  const prompts = fields.texts('prompt');
  const [prompt] = prompts;
  if (prompt === undefined) throw new RequestFault('prompt', 'prompt is missing');
  if (prompts.length > 1) throw new RequestFault('prompt', 'prompt must be one text: Bedrock completes one at a time');
  refuseDemands(fields, 'this model of Bedrock', [
    'suffix',
    'echo',
    'best_of',
    ...(severalAtOnce && !stream ? [] : (['n'] as const)),
    ...(neverStops ? (['stop'] as const) : []),
  ]);
  const stop = fields.texts('stop');
  return {
    prompt,
    limit: fields.number('max_tokens'),
    temperature: fields.number('temperature'),
    topP: fields.number('top_p'),
    topK: fields.number('top_k'),
    stop: stop.length > 0 ? stop : null,
    count: fields.number('n') ?? 1,
  };
}

const done = /^(?:stop|finish|finished|complete|endoftext|stop_sequence|end_turn|eos|eos_token)$/i;
const held = /^(?:content_filtered|content_filter|error_toxic)$/i;

function reasonOf(reason: string | null, { strict }: CallFacts): string | null {
  if (reason === null || !strict) return reason;
  return done.test(reason) ? 'stop' : held.test(reason) ? 'content_filter' : 'length';
}

const written = (completed: readonly Completed[], facts: CallFacts, id: string): JsonObject => ({
  id,
  object: 'text_completion',
  created: facts.now(),
  model: facts.model,
  choices: completed.map(({ text, reason }, index) => ({
    text,
    index,
    logprobs: null,
    finish_reason: reasonOf(reason, facts),
  })),
  provider: facts.provider,
});

/** The service counts for every model. */
const usageOf = ({ headers }: RawAnswer, answer: JsonObject): JsonObject =>
  usage(
    Number(headers.get('x-amzn-bedrock-input-token-count')) ||
      countOf(answer.inputTextTokenCount ?? answer.prompt_token_count),
    Number(headers.get('x-amzn-bedrock-output-token-count')) ||
      countOf(answer.generation_token_count ?? objectOf(listOf(answer.results)[0]).tokenCount),
  );

const usage = (input: number, output: number): JsonObject => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
});

class CompletionTranslator implements StreamTranslator {
  readonly #vendor: Vendor;
  readonly #facts: CallFacts;
  readonly #id: string;
  #stopped = false;
  #usage: JsonObject | null = null;

  constructor(vendor: Vendor, facts: CallFacts) {
    this.#vendor = vendor;
    this.#facts = facts;
    this.#id = facts.newId('cmpl-');
  }

  event(event: ServerEvent): ServerEvent[] {
    const record = unwrapped(event);
    if (!record) return [];
    const body = parsed(record.data);
    if (!isObject(body)) throw new ProviderFault(502, 'the provider sent a record that cannot be read');
    const metrics = body['amazon-bedrock-invocationMetrics'];
    if (isObject(metrics)) {
      this.#usage = usage(numberOf(metrics.inputTokenCount) ?? 0, numberOf(metrics.outputTokenCount) ?? 0);
    }
    const [piece] = this.#vendor.read(body);
    if (!piece) return [];
    if (piece.reason !== null || body.is_finished === true) this.#stopped = true;
    return [{ event: null, data: JSON.stringify(written([piece], this.#facts, this.#id)) }];
  }

  end(): ServerEvent[] {
    if (!this.#stopped) return [];
    const last = this.#usage && { ...written([], this.#facts, this.#id), usage: this.#usage };
    return [...(last ? [{ event: null, data: JSON.stringify(last) }] : []), { event: null, data: '[DONE]' }];
  }
}
