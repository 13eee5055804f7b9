/** The messages of a chat request as turns: results of tools join the user's side, older function calls count as tool calls. */
import type { ToolCallPart, Turn } from '../../chat/conversation.ts';
import { RequestFault } from '../../faults.ts';
import type { Fields } from '../../fields.ts';
import { argumentsOfInput } from '../custom-tools.ts';
import { contentOf, textContent, thoughtsOf, userContent } from './content.ts';

export function turnsOf(messages: readonly Fields[]): Turn[] {
  const names = new Map<string, string>();
  return messages.map((message) => turnOf(message, names));
}

/** `names` remembers which tool each call went to, for the results that follow. */
function turnOf(message: Fields, names: Map<string, string>): Turn {
  const role = message.needText('role');
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', parts: textContent(message) };
    case 'user':
      return { role: 'user', parts: userContent(message) };
    case 'assistant': {
      const calls = callsOf(message);
      for (const call of calls) names.set(call.id, call.name);
      return { role: 'assistant', parts: [...thoughtsOf(message), ...contentOf(message), ...calls] };
    }
    case 'tool':
      return resultTurn(message, message.needText('tool_call_id'), names);
    case 'function':
      return resultTurn(message, functionCallId(message.needText('name')), names);
    default:
      throw new RequestFault(
        message.at('role'),
        `${message.at('role')} "${role}" must be one of system, developer, user, assistant, tool, function`,
      );
  }
}

/** The older form of a call has no id; there is at most one of each name at a time. */
const functionCallId = (name: string): string => `call_${name}`;

function callsOf(message: Fields): ToolCallPart[] {
  const legacy = message.object('function_call');
  if (legacy) {
    const name = legacy.needText('name');
    const args = legacy.text('arguments') ?? '';
    return [{ type: 'tool-call', id: functionCallId(name), name, arguments: args, signature: null, cache: null }];
  }
  return (message.objects('tool_calls') ?? []).map((call): ToolCallPart => {
    const custom = call.object('custom');
    const called = custom ?? call.needObject('function');
    return {
      type: 'tool-call',
      id: call.needText('id'),
      name: called.needText('name'),
      arguments: custom ? argumentsOfInput(custom.text('input') ?? '') : (called.text('arguments') ?? ''),
      signature: called.text('thought_signature'),
      cache: call.raw('cache_control'),
    };
  });
}

/** A mark inside a result's content stands for the whole result. */
function resultTurn(message: Fields, callId: string, names: ReadonlyMap<string, string>): Turn {
  const content = userContent(message);
  const cache = content.findLast((part) => part.cache)?.cache ?? null;
  return {
    role: 'user',
    parts: [
      {
        type: 'tool-result',
        callId,
        name: names.get(callId) ?? message.text('name'),
        content: content.map((part) => ({ ...part, cache: null })),
        isError: message.flag('is_error') ?? false,
        cache,
      },
    ],
  };
}
