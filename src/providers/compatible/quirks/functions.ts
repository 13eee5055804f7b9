/** The older `functions`, for providers that know only tools: asked for as tools, and answered as the client asked. */
import { isObject, objectOf, objectsOf, textOf } from '../../json.ts';
import type { JsonObject } from '../../provider.ts';
import type { Mend } from './answers.ts';
import type { Quirk } from './parameters.ts';
import { eachIn, inside, lacking } from './same.ts';

export const asksForFunctions = ({ functions, tools }: Readonly<JsonObject>): boolean =>
  Array.isArray(functions) && functions.length > 0 && tools === undefined;

/** A call of a function has no id: its place in the conversation stands for it. */
export const functionsAsTools: Quirk = (body) => {
  if (!asksForFunctions(body)) return body;
  let calls = 0;
  const asked = eachIn(body, 'messages', (message) => {
    if (isObject(message.function_call)) {
      const call = { id: `call_${++calls}`, type: 'function', function: message.function_call };
      return { ...lacking(message, 'function_call'), tool_calls: [call] };
    }
    if (message.role !== 'function') return message;
    return { ...message, role: 'tool', tool_call_id: `call_${calls}` };
  });
  return {
    ...lacking(asked, 'functions', 'function_call'),
    tools: objectsOf(body.functions).map((called) => ({ type: 'function', function: called })),
    ...(body.function_call !== undefined && { tool_choice: choiceOf(body.function_call) }),
    parallel_tool_calls: false,
  };
};

const choiceOf = (choice: unknown): unknown =>
  isObject(choice) ? { type: 'function', function: { name: choice.name } } : choice;

/** The one call that an answer holds. */
export const callAsFunction: Mend = () => (answer) =>
  eachIn(answer, 'choices', (choice) => {
    const plain = inside(inside(choice, 'message', withFunctionCall), 'delta', withFunctionCall);
    return plain.finish_reason === 'tool_calls' ? { ...plain, finish_reason: 'function_call' } : plain;
  });

function withFunctionCall(message: JsonObject): JsonObject {
  const [call] = objectsOf(message.tool_calls);
  if (!call) return message;
  const { name, arguments: args } = objectOf(call.function);
  return {
    ...lacking(message, 'tool_calls'),
    function_call: { ...(textOf(name) !== null && { name }), arguments: textOf(args) ?? '' },
  };
}
