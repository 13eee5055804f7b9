/** A conversation in the format that OCI has for Cohere's models: the last message apart from what came before. */
import type {
  AssistantTurn,
  Conversation,
  Tool,
  ToolCallPart,
  ToolResultPart,
  UserTurn,
} from '../chat/conversation.ts';
import { ownExtras } from '../chat/extras.ts';
import { unsupported } from '../chat/media.ts';
import { hoisted, joinedText, mediaIn, saidBy } from '../chat/turns.ts';
import { RequestFault } from '../faults.ts';
import { argumentsOf, isObject, listOf, objectOf, parsed, present } from '../json.ts';
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
  const made: Calls = new Map();
  const earlier = turns.slice(0, -1).flatMap((turn) => historyOf(turn, made));
  const { format, stop, stream } = conversation;
  return present({
    apiFormat: 'COHERE',
    message: joinedText(last.parts),
    chatHistory: earlier.length > 0 ? earlier : null,
    preambleOverride: joinedText(system) || null,
    tools: conversation.tools.length > 0 ? conversation.tools.map(toolOf) : null,
    toolResults: results.length > 0 ? results.map((result) => resultOf(result, made)) : null,
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

function refuseOthers(conversation: Conversation): void {
  const { hostedTools, toolChoice, count } = conversation;
  if (hostedTools.length > 0) throw new RequestFault('tools', 'these models run no tools of their own');
  if (toolChoice && toolChoice.mode !== 'auto') {
    throw new RequestFault('tool_choice', 'these models choose their tools themselves: leave tool_choice out');
  }
  if (count > 1) throw new RequestFault('n', 'these models give one answer a call: leave n out');
  if (mediaIn(conversation).length > 0) throw unsupported('messages', 'Cohere on OCI', 'images or files');
}

/** The format knows the types of parameters, not their schemas. */
function toolOf({ name, description, parameters }: Tool): JsonObject {
  const required = new Set(listOf(parameters?.required));
  const definitions = Object.entries(objectOf(parameters?.properties)).map(([parameter, schema]) => {
    const { type, description: about } = objectOf(schema);
    return [
      parameter,
      present({
        type: typeof type === 'string' ? type : 'object',
        description: about,
        isRequired: required.has(parameter),
      }),
    ];
  });
  return { name, description: description ?? name, parameterDefinitions: Object.fromEntries(definitions) };
}

/** The calls that have been made so far, by their ids. */
type Calls = Map<string, ToolCallPart>;

/** A result says again which call it answers. */
function resultOf({ callId, name, content, isError }: ToolResultPart, made: Calls): JsonObject {
  const call = made.get(callId);
  const text = (isError ? 'Error: ' : '') + joinedText(content);
  const output = parsed(text);
  return {
    call: { name: name ?? call?.name ?? '', parameters: argumentsOf(call?.arguments ?? '') },
    outputs: [isObject(output) ? output : { result: text }],
  };
}

function historyOf(turn: UserTurn | AssistantTurn, made: Calls): JsonObject[] {
  if (turn.role === 'user') {
    const message = joinedText(turn.parts);
    const results = turn.parts.filter((part) => part.type === 'tool-result');
    return [
      ...(results.length > 0 ? [{ role: 'TOOL', toolResults: results.map((result) => resultOf(result, made)) }] : []),
      ...(message !== '' ? [{ role: 'USER', message }] : []),
    ];
  }
  const calls = turn.parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
  for (const call of calls) made.set(call.id, call);
  return [
    present({
      role: 'CHATBOT',
      message: saidBy(turn, 'Cohere on OCI'),
      toolCalls:
        calls.length > 0 ? calls.map(({ name, arguments: args }) => ({ name, parameters: argumentsOf(args) })) : null,
    }),
  ];
}
