/** Ollama's own answers: whole, and as lines of JSON. */
import type { AnswerEvent, AnswerPart, AnswerReader, ChatAnswer, FinishReason } from '../chat/answer.ts';
import { finishIn, finishWithCalls } from '../chat/finish.ts';
import { faultIn, ProviderFault } from '../faults.ts';
import { countOf, isObject, numberOf, objectOf, objectsOf, parsed, secondsOf, textOf } from '../json.ts';
import { argumentText } from '../openai/answer.ts';
import type { JsonObject, ServerEvent, Usage } from '../provider.ts';
import { noUsage } from '../usage.ts';

type NewId = (prefix: string) => string;

export function readAnswer(answer: unknown, newId: NewId): ChatAnswer {
  const body = objectOf(answer);
  if (!isObject(body.message)) throw faultIn(502, answer) ?? new ProviderFault(502, 'the answer has no message');
  const { message } = body;
  const calls = callsOf(message, newId);
  const thinking = textOf(message.thinking) ?? '';
  const text = textOf(message.content) ?? '';
  const parts: AnswerPart[] = [
    ...(thinking === '' ? [] : [{ type: 'thinking', text: thinking, signature: null } as const]),
    ...(text === '' ? [] : [{ type: 'text', text } as const]),
    ...calls,
  ];
  return {
    id: null,
    model: textOf(body.model),
    created: secondsOf(body.created_at),
    choices: [
      {
        index: 0,
        parts,
        finish: finishOf(body.done_reason, calls.length > 0),
        providerFinish: textOf(body.done_reason),
        stopSequence: null,
        logprobs: null,
        annotations: [],
        extras: {},
      },
    ],
    usage: usageOf(body),
    extras: {},
  };
}

const callsOf = ({ tool_calls }: JsonObject, newId: NewId) =>
  objectsOf(tool_calls).map((call) => {
    const called = objectOf(call.function);
    return {
      type: 'tool-call' as const,
      id: textOf(call.id) || newId('call_'),
      name: textOf(called.name) ?? '',
      arguments: argumentText(called.arguments),
      signature: null,
    };
  });

/** `load` says that the model was only loaded, `unload` that it was let go: both answer with nothing. */
const finishes: ReadonlyMap<string, FinishReason> = new Map(
  Object.entries<FinishReason>({ stop: 'stop', load: 'stop', unload: 'stop', length: 'length' }),
);

const finishOf = (reason: unknown, called: boolean): FinishReason =>
  finishWithCalls(finishIn(finishes, textOf(reason)), called);

/** A prompt that was kept from the call before is not counted again; nothing at all means that nobody counted. */
const usageOf = ({ prompt_eval_count, eval_count }: JsonObject): Usage | null =>
  numberOf(prompt_eval_count) === null && numberOf(eval_count) === null
    ? null
    : { ...noUsage, inputTokens: countOf(prompt_eval_count), outputTokens: countOf(eval_count) };

export const lineReader = (newId: NewId): AnswerReader => new LineReader(newId);

class LineReader implements AnswerReader {
  readonly #newId: NewId;
  #started = false;
  #calls = 0;

  constructor(newId: NewId) {
    this.#newId = newId;
  }

  read({ data }: ServerEvent): AnswerEvent[] {
    const line = parsed(data);
    if (!isObject(line)) throw new ProviderFault(502, 'the provider sent a line that cannot be read');
    if (line.error) throw faultIn(502, line) ?? new ProviderFault(502, data);
    const events: AnswerEvent[] = [];
    if (!this.#started) events.push({ type: 'start', id: null, model: textOf(line.model) });
    this.#started = true;
    const message = objectOf(line.message);
    const thinking = textOf(message.thinking);
    if (thinking) events.push({ type: 'thinking', choice: 0, text: thinking });
    const text = textOf(message.content);
    if (text) events.push({ type: 'text', choice: 0, text });
    for (const { id, name, arguments: args } of callsOf(message, this.#newId)) {
      const call = this.#calls++;
      events.push(
        { type: 'tool-call', choice: 0, call, id, name, signature: null },
        { type: 'arguments', choice: 0, call, text: args },
      );
    }
    if (line.done === true) events.push(...this.#last(line));
    return events;
  }

  end(): AnswerEvent[] {
    return [];
  }

  #last(line: JsonObject): AnswerEvent[] {
    const reason = finishOf(line.done_reason, this.#calls > 0);
    const usage = usageOf(line);
    return [
      { type: 'finish', choice: 0, reason, providerReason: textOf(line.done_reason), stopSequence: null },
      ...(usage ? [{ type: 'usage', usage } as const] : []),
    ];
  }
}
