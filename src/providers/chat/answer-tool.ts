/** The tool that stands in for structured output where nothing else makes a model keep to a schema: what it is called with is the answer. */
import type { AnswerChoice, AnswerEvent, AnswerPart, AnswerReader, ChatAnswer } from './answer.ts';

/** No client's tool has this name. */
export const answerTool = 'gw_answer_in_given_form';

/** Said to a model that cannot be made to call it. */
export const answerInstruction = `Give your final answer only by calling the tool ${answerTool}.`;

/** The answer without the tool. */
export const unfolded = (answer: ChatAnswer): ChatAnswer => ({ ...answer, choices: answer.choices.map(withoutTool) });

function withoutTool(choice: AnswerChoice): AnswerChoice {
  const given = choice.parts.find((part) => part.type === 'tool-call' && part.name === answerTool);
  if (given?.type !== 'tool-call') return choice;
  const parts = choice.parts.flatMap((part): AnswerPart[] => {
    if (part === given) return [{ type: 'text', text: given.arguments }];
    // What is said around an answer would break its form, and so would a second one.
    return part.type === 'text' || (part.type === 'tool-call' && part.name === answerTool) ? [] : [part];
  });
  if (choice.finish !== 'tool_calls' || parts.some(({ type }) => type === 'tool-call')) return { ...choice, parts };
  return { ...choice, parts, finish: 'stop', providerFinish: ended };
}

/** The word for an answer that is complete, in the dialects that need the tool. */
const ended = 'end_turn';

/** The stream without the tool. Where it was `asked` for, text waits until no answer can follow it. */
export const unfolding = (reader: AnswerReader, asked: boolean): AnswerReader => new UnfoldingReader(reader, asked);

class UnfoldingReader implements AnswerReader {
  readonly #reader: AnswerReader;
  readonly #asked: boolean;
  #held: AnswerEvent[] = [];
  /** The number of the call that is the answer. */
  #answer: number | null = null;
  /** The numbers that the other calls have for the client, by their own. */
  readonly #calls = new Map<number, number>();

  constructor(reader: AnswerReader, asked: boolean) {
    this.#reader = reader;
    this.#asked = asked;
  }

  read(...event: Parameters<AnswerReader['read']>): AnswerEvent[] {
    return this.#reader.read(...event).flatMap((step) => this.#step(step));
  }

  end(): AnswerEvent[] {
    return this.#reader.end().flatMap((step) => this.#step(step));
  }

  #step(step: AnswerEvent): AnswerEvent[] {
    switch (step.type) {
      case 'text':
      case 'annotations':
        return this.#said(step);
      case 'tool-call':
        return this.#called(step);
      case 'arguments': {
        const { choice, text } = step;
        if (step.call === this.#answer) return [{ type: 'text', choice, text }];
        const call = this.#calls.get(step.call);
        return call === undefined ? [] : [{ ...step, call }];
      }
      case 'finish':
        return [...this.#released(), this.#finished(step)];
      default:
        return [step];
    }
  }

  #said(step: AnswerEvent): AnswerEvent[] {
    if (this.#answer !== null) return [];
    if (!this.#asked || this.#calls.size > 0) return [step];
    this.#held.push(step);
    return [];
  }

  #called(step: Extract<AnswerEvent, { type: 'tool-call' }>): AnswerEvent[] {
    if (step.name === answerTool) {
      this.#answer ??= step.call;
      this.#held = [];
      return [];
    }
    const call = this.#calls.size;
    this.#calls.set(step.call, call);
    return [...this.#released(), { ...step, call }];
  }

  #released(): AnswerEvent[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }

  #finished(step: Extract<AnswerEvent, { type: 'finish' }>): AnswerEvent {
    const isAnswer = this.#answer !== null && this.#calls.size === 0 && step.reason === 'tool_calls';
    return isAnswer ? { ...step, reason: 'stop', providerReason: ended } : step;
  }
}
