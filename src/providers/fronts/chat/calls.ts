/** How calls of tools are told to this client: as tool calls, as free text for custom tools, or in the older form of functions. */
import type { AnswerEvent, AnsweredCall, FinishReason } from '../../chat/answer.ts';
import type { CallFacts, JsonObject } from '../../provider.ts';
import { customNames, inputOfArguments } from '../custom-tools.ts';

type Opened = Extract<AnswerEvent, { type: 'tool-call' }>;
type Argued = Extract<AnswerEvent, { type: 'arguments' }>;

/** The older form knows one call at a time. */
export const asksForFunctions = ({ body }: Pick<CallFacts, 'body'>): boolean =>
  Array.isArray(body.functions) && !Array.isArray(body.tools);

export const finishWord = (reason: FinishReason, facts: CallFacts): string =>
  reason === 'tool_calls' && asksForFunctions(facts) ? 'function_call' : reason;

/** The fields of a whole message that tell of its calls. */
export function writtenCalls(calls: readonly AnsweredCall[], facts: CallFacts): JsonObject {
  const [first] = calls;
  if (!first) return {};
  if (asksForFunctions(facts)) return { function_call: { name: first.name, arguments: first.arguments } };
  const custom = customNames(facts);
  return { tool_calls: calls.map((call) => (custom.has(call.name) ? customCall(call) : functionCall(call))) };
}

const customCall = ({ id, name, arguments: args }: AnsweredCall): JsonObject => ({
  id,
  type: 'custom',
  custom: { name, input: inputOfArguments(args) },
});

const functionCall = ({ id, name, arguments: args, signature }: AnsweredCall): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: args, ...markOf(signature) },
});

const markOf = (signature: string | null): JsonObject => (signature === null ? {} : { thought_signature: signature });

/** The calls of a stream, as pieces of its messages. */
export class ToldCalls {
  readonly #legacy: boolean;
  readonly #custom: ReadonlySet<string>;
  /** Free text is inside the arguments, and can be told only when they are whole. */
  readonly #held = new Map<string, { choice: number; call: number; text: string }>();

  constructor(facts: CallFacts) {
    this.#legacy = asksForFunctions(facts);
    this.#custom = customNames(facts);
  }

  opened({ choice, call, id, name, signature }: Opened): JsonObject | null {
    if (this.#legacy) return call === 0 ? { function_call: { name, arguments: '' } } : null;
    if (this.#custom.has(name)) {
      this.#held.set(`${choice}:${call}`, { choice, call, text: '' });
      return { tool_calls: [{ index: call, id, type: 'custom', custom: { name, input: '' } }] };
    }
    const called = { name, arguments: '', ...markOf(signature) };
    return { tool_calls: [{ index: call, id, type: 'function', function: called }] };
  }

  argued({ choice, call, text }: Argued): JsonObject | null {
    if (this.#legacy) return call === 0 ? { function_call: { arguments: text } } : null;
    const held = this.#held.get(`${choice}:${call}`);
    if (!held) return { tool_calls: [{ index: call, function: { arguments: text } }] };
    held.text += text;
    return null;
  }

  /** What was held, by choice. */
  rest(): { choice: number; delta: JsonObject }[] {
    return [...this.#held.values()].map(({ choice, call, text }) => ({
      choice,
      delta: { tool_calls: [{ index: call, custom: { input: inputOfArguments(text) } }] },
    }));
  }
}
