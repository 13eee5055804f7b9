/** Tools for a provider that knows only the older functions: one call a turn, its arguments as an object. */
import { RequestFault } from '../faults.ts';
import { argumentsOf, isObject, objectOf, objectsOf, textOf } from '../json.ts';
import { argumentText } from '../openai/answer.ts';
import type { JsonObject } from '../provider.ts';
import type { Mend } from './quirks/answers.ts';
import type { Quirk } from './quirks/parameters.ts';
import { eachIn, inside, lacking } from './quirks/same.ts';

export const toolsAsFunctions: Quirk = (body) => {
  const names = new Map<string, string>();
  const asked = eachIn(body, 'messages', (message) => spoken(message, names));
  const { tools, tool_choice } = body;
  if (tools === undefined && tool_choice === undefined) return asked;
  return {
    ...lacking(asked, 'tools', 'tool_choice', 'parallel_tool_calls'),
    ...(Array.isArray(tools) && { functions: objectsOf(tools).map((tool) => objectOf(tool.function)) }),
    ...(tool_choice !== undefined && tool_choice !== null && { function_call: choiceOf(tool_choice) }),
  };
};

function choiceOf(choice: unknown): unknown {
  if (choice === 'required') {
    throw new RequestFault('tool_choice', 'gigachat cannot be made to call a tool: send "auto", or name the tool');
  }
  return isObject(choice) ? { name: objectOf(choice.function).name } : choice;
}

function spoken(message: JsonObject, names: Map<string, string>): JsonObject {
  const calls = objectsOf(message.tool_calls);
  if (calls.length > 1) throw new RequestFault('messages', 'gigachat knows one tool call a turn, not several');
  const [call] = calls;
  if (call) {
    const { name, arguments: args } = objectOf(call.function);
    names.set(textOf(call.id) ?? '', textOf(name) ?? '');
    return { ...lacking(message, 'tool_calls'), function_call: { name, arguments: argumentsOf(textOf(args) ?? '') } };
  }
  if (message.role !== 'tool') return message;
  const name = names.get(textOf(message.tool_call_id) ?? '') ?? message.name;
  return { ...lacking(message, 'tool_call_id'), role: 'function', name };
}

export const functionAsCall: Mend = ({ newId }) => {
  const called = (message: JsonObject): JsonObject => {
    const { function_call } = message;
    if (!isObject(function_call)) return message;
    const { name, arguments: args } = function_call;
    const call = { index: 0, id: newId('call_'), type: 'function', function: { name, arguments: argumentText(args) } };
    return { ...lacking(message, 'function_call'), tool_calls: [call] };
  };
  return (answer) =>
    eachIn(answer, 'choices', (choice) => {
      const made = inside(inside(choice, 'message', called), 'delta', called);
      return made.finish_reason === 'function_call' ? { ...made, finish_reason: 'tool_calls' } : made;
    });
};
