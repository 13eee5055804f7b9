/** Chat completions and the older completions: `data:` lines with `choices`, ended by `[DONE]`. */
import { objectOf, objectsOf, textOf } from '../../providers/json.ts';
import { isCall } from '../../providers/openai/answer.ts';
import type { JsonObject, ServerEvent } from '../../providers/provider.ts';
import { laterUsage, readUsage } from '../../providers/usage.ts';
import { errorBody } from '../errors.ts';
import { type Dialect, jsonOf, noteText, reportedFault, type Seam, type StreamState } from './dialect.ts';

const done = '[DONE]';

interface Choice {
  index?: unknown;
  text?: unknown;
  delta?: JsonObject;
  finish_reason?: unknown;
}

const isChoice = (value: unknown): value is Choice => typeof value === 'object' && value !== null;

const choicesOf = (json: JsonObject): Choice[] => (Array.isArray(json.choices) ? json.choices.filter(isChoice) : []);

/** Chat keeps its text in `delta.content`, completions in `text`. */
const textOfChoice = (choice: Choice): string | null => {
  const text = choice.delta ? choice.delta.content : choice.text;
  return typeof text === 'string' ? text : null;
};

const textIn = (event: ServerEvent): string | null => {
  const [choice] = choicesOf(jsonOf(event) ?? {});
  return choice ? textOfChoice(choice) : null;
};

/** A second answer beside the first, or anything that is no text. */
const isBeyondText = ({ index, delta }: Choice): boolean =>
  Boolean(index) || Boolean(delta && (calls(delta) || delta.audio || delta.refusal));

const isOtherContent = (delta: JsonObject): boolean => Boolean(calls(delta) || delta.audio || delta.refusal);

/** Some servers write the fields of calls into every chunk, and leave them empty. */
const calls = ({ tool_calls: tools, function_call: legacy }: JsonObject): boolean =>
  (Array.isArray(tools) && tools.length > 0) || (legacy !== undefined && isCall({ function: legacy }));

/** Of the first answer, which goes on. */
const isTextAlone = (choice: Choice): boolean => !isBeyondText(choice) && !choice.finish_reason;

/** How much of the answer a client does not read as its text. */
function charactersBeside(delta: JsonObject): number {
  const thought = delta.reasoning_content ?? delta.reasoning;
  const thoughts = typeof thought === 'string' ? thought.length : 0;
  if (!Array.isArray(delta.tool_calls)) return thoughts;
  return objectsOf(delta.tool_calls).reduce((sum, { function: called }) => {
    const { name, arguments: given } = objectOf(called);
    return sum + (textOf(name)?.length ?? 0) + (textOf(given)?.length ?? 0);
  }, thoughts);
}

function noteChoice(choice: Choice, state: StreamState): void {
  const text = textOfChoice(choice);
  if (text) noteText(state, text);
  else if (choice.delta) state.characters += charactersBeside(choice.delta);
  if (choice.delta && isOtherContent(choice.delta)) state.otherContent++;
  if (isBeyondText(choice)) state.beyondText = true;
  if (choice.finish_reason) state.finished = true;
  // Of several answers beside each other one may be done long before the rest: then only the terminator counts.
  if (choice.index) state.several = true;
  if (state.several) state.finished = false;
}

export const chatDialect: Dialect = {
  read(event, state) {
    if (event.data === done) return 'end';
    const again = state.alike.textIn(event);
    if (again !== null) {
      noteText(state, again);
      return 'part';
    }
    const json = jsonOf(event);
    if (!json) return 'malformed';
    if (json.error) return reportedFault(json.error);
    if (typeof json.id === 'string') state.id ??= json.id;
    if (typeof json.model === 'string') state.model ??= json.model;
    const usage = readUsage(json.usage);
    if (usage) state.usage = laterUsage(state.usage, usage);
    const choices = choicesOf(json);
    for (const choice of choices) noteChoice(choice, state);
    const [only] = choices;
    if (only && choices.length === 1 && isTextAlone(only)) state.alike.learn(event, textOfChoice(only) ?? '', textIn);
    return 'part';
  },
  errorEvent: (error) => ({ event: null, data: JSON.stringify(errorBody(error, 'openai')) }),
  terminator: { event: null, data: done },
  endsWithBytes: false,
  resume: {
    continuation: (body, delivered) => ({
      ...body,
      messages: [
        ...(Array.isArray(body.messages) ? body.messages : []),
        { role: 'assistant', content: delivered, prefix: true },
      ],
    }),
    textOf: textIn,
    rewritten,
    place(event) {
      const choices = choicesOf(jsonOf(event) ?? {});
      const opens = choices.every((choice) => !choice.finish_reason && !textOfChoice(choice) && !isBeyondText(choice));
      return choices.length > 0 && opens ? 'repeated' : 'new';
    },
    ends: (event) =>
      event.data === done || choicesOf(jsonOf(event) ?? {}).some((choice) => Boolean(choice.finish_reason)),
    closing: () => [],
  },
};

function rewritten(event: ServerEvent, text: string, { delivered: { id } }: Seam): ServerEvent {
  const json = jsonOf(event);
  if (!json) return event;
  const choices = choicesOf(json).map((choice) => {
    if (!choice.delta) return { ...choice, ...(choice.text !== undefined && { text }) };
    const { role: _, ...delta } = choice.delta;
    return { ...choice, delta: 'content' in delta ? { ...delta, content: text } : delta };
  });
  const named = { ...json, ...(id !== null && { id }), ...(json.choices !== undefined && { choices }) };
  return { event: event.event, data: JSON.stringify(named) };
}
