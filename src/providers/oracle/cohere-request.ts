/** A conversation in the format that OCI has for Cohere's models: the last message apart from what came before. */
import type { AssistantTurn, Conversation, Tool, ToolResultPart, UserTurn } from '../chat/conversation.ts';
import { ownExtras } from '../chat/extras.ts';
import { unsupported } from '../chat/media.ts';
import { calledTools, hoisted, joinedText } from '../chat/turns.ts';
import { RequestFault } from '../faults.ts';
import { argumentsOf, listOf, objectOf, parsed, present } from '../json.ts';
import { refuseReasoning } from '../own/plain-chat.ts';
import type { JsonObject } from '../provider.ts';
import { usualLimit } from './generic-request.ts';

export function cohereRequest(conversation: Conversation): JsonObject {
  refuseOthers(conversation);
  refuseReasoning(conversation, 'Cohere on OCI');
  const { system, turns } = hoisted(conversation);
  const last = turns.at(-1);
  if (last?.role !== 'user') throw new RequestFault('messages', 'the last message must be the user’s, or a tool’s');
  const results = last.parts.filter((part) => part.type === 'tool-result');
  const earlier = turns.slice(0, -1);
  const { format, stop, stream } = conversation;
  return present({
    apiFormat: 'COHERE',
    message: joinedText(last.parts),
    chatHistory: earlier.length > 0 ? earlier.flatMap((turn) => historyOf(turn, conversation)) : null,
    preambleOverride: joinedText(system) || null,
    tools: conversation.tools.length > 0 ? conversation.tools.map(toolOf) : null,
    toolResults: results.length > 0 ? results.map((result) => resultOf(result, conversation)) : null,
    maxTokens: conversation.limit ?? usualLimit,
    temperature: conversation.temperature,
    topP: conversation.topP,
    topK: conversation.topK,
    seed: conversation.seed,
    frequencyPenalty: conversation.frequencyPenalty,
    presencePenalty: conversation.presencePenalty,
    stopSequences: stop.length > 0 ? stop : null,
    responseFormat:
      format.type === 'text'
        ? null
        : present({ type: 'JSON_OBJECT', schema: format.type === 'schema' ? format.schema : null }),
    ...(stream && { isStream: true, streamOptions: { isIncludeUsage: true } }),
    ...ownExtras(conversation, 'OCI'),
  });
}

function refuseOthers({ hostedTools, toolChoice, count, turns }: Conversation): void {
  if (hostedTools.length > 0) throw new RequestFault('tools', 'these models run no tools of their own');
  if (toolChoice && toolChoice.mode !== 'auto') {
    throw new RequestFault('tool_choice', 'these models choose their tools themselves: leave tool_choice out');
  }
  if (count > 1) throw new RequestFault('n', 'these models give one answer a call: leave n out');
  const media = turns.some(({ parts }) => parts.some(({ type }: { type: string }) => type === 'media'));
  if (media) throw unsupported('messages', 'Cohere on OCI', 'images or files');
}

/** The format knows the types of parameters, not their schemas. */
function toolOf({ name, description, parameters }: Tool): JsonObject {
  const required = listOf(parameters?.required);
  const definitions = Object.entries(objectOf(parameters?.properties)).map(([parameter, schema]) => {
    const { type, description: about } = objectOf(schema);
    return [
      parameter,
      present({
        type: typeof type === 'string' ? type : 'object',
        description: about,
        isRequired: required.includes(parameter),
      }),
    ];
  });
  return { name, description: description ?? name, parameterDefinitions: Object.fromEntries(definitions) };
}

/** A result says again which call it answers. */
function resultOf({ callId, name, content, isError }: ToolResultPart, conversation: Conversation): JsonObject {
  const text = (isError ? 'Error: ' : '') + joinedText(content);
  const output = parsed(text);
  const call = {
    name: name ?? calledTools(conversation).get(callId) ?? '',
    parameters: parametersOf(callId, conversation),
  };
  return {
    call,
    outputs: [typeof output === 'object' && output !== null && !Array.isArray(output) ? output : { result: text }],
  };
}

function parametersOf(callId: string, { turns }: Conversation): JsonObject {
  for (const { parts } of turns) {
    for (const part of parts) if (part.type === 'tool-call' && part.id === callId) return argumentsOf(part.arguments);
  }
  return {};
}

function historyOf(turn: UserTurn | AssistantTurn, conversation: Conversation): JsonObject[] {
  const message = joinedText(turn.parts);
  if (turn.role === 'user') {
    const results = turn.parts.filter((part) => part.type === 'tool-result');
    return [
      ...(results.length > 0
        ? [{ role: 'TOOL', toolResults: results.map((result) => resultOf(result, conversation)) }]
        : []),
      ...(message !== '' ? [{ role: 'USER', message }] : []),
    ];
  }
  const calls = turn.parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
  return [
    present({
      role: 'CHATBOT',
      message,
      toolCalls:
        calls.length > 0 ? calls.map(({ name, arguments: args }) => ({ name, parameters: argumentsOf(args) })) : null,
    }),
  ];
}
