/** A conversation in the general format of OCI: everything but Cohere's older models. */
import type {
  AssistantTurn,
  Conversation,
  MediaPart,
  OutputFormat,
  TextPart,
  Tool,
  ToolChoice,
  Turn,
  UserTurn,
} from '../chat/conversation.ts';
import { ownExtras } from '../chat/extras.ts';
import { unsupported } from '../chat/media.ts';
import { joinedText, resultsApart, saidBy, shownIn } from '../chat/turns.ts';
import { RequestFault } from '../faults.ts';
import { present, textOf, wordOf } from '../json.ts';
import { effortOf } from '../openai/reasoning.ts';
import type { JsonObject } from '../provider.ts';

/** Where none is asked for, OCI would write a few hundred tokens at most. */
export const usualLimit = 4_000;

export function genericRequest(conversation: Conversation): JsonObject {
  const { model, stop, stream } = conversation;
  const limit = /^openai\.(?!gpt-oss)/.test(model) ? 'maxCompletionTokens' : 'maxTokens';
  return present({
    apiFormat: 'GENERIC',
    messages: conversation.turns.flatMap(messagesOf),
    [limit]: conversation.limit ?? usualLimit,
    temperature: conversation.temperature,
    topP: conversation.topP,
    topK: conversation.topK,
    seed: conversation.seed,
    frequencyPenalty: conversation.frequencyPenalty,
    presencePenalty: conversation.presencePenalty,
    stop: stop.length > 0 ? stop : null,
    numGenerations: conversation.count > 1 ? conversation.count : null,
    logProbs: conversation.logprobs?.top,
    reasoningEffort: wordForEffort(conversation),
    verbosity: textOf(conversation.extras.verbosity)?.toUpperCase(),
    logitBias: conversation.extras.logit_bias,
    responseFormat: formatOf(conversation.format),
    tools: toolsOf(conversation),
    toolChoice: conversation.toolChoice && choiceOf(conversation.toolChoice),
    isParallelToolCalls: conversation.parallelToolCalls,
    ...(stream && { isStream: true, streamOptions: { isIncludeUsage: true } }),
    ...ownExtras(conversation, 'OCI'),
  });
}

/** The scale of OCI ends at HIGH. */
function wordForEffort({ reasoning, model }: Conversation): string | null {
  const effort = reasoning && effortOf(reasoning, model);
  return effort === 'xhigh' ? 'HIGH' : (effort?.toUpperCase() ?? null);
}

export function toolsOf({ tools, hostedTools }: Conversation): JsonObject[] | null {
  const [hosted] = hostedTools;
  if (hosted) throw new RequestFault('tools', `the tool "${wordOf(hosted.type)}" is run by another provider`);
  return tools.length > 0 ? tools.map(toolOf) : null;
}

const toolOf = ({ name, description, parameters }: Tool): JsonObject =>
  present({ type: 'FUNCTION', name, description, parameters: parameters ?? { type: 'object', properties: {} } });

const choiceOf = (choice: ToolChoice): JsonObject =>
  choice.mode === 'tool' ? { type: 'FUNCTION', name: choice.name } : { type: choice.mode.toUpperCase() };

function formatOf(format: OutputFormat): JsonObject | null {
  if (format.type === 'text') return null;
  if (format.type === 'json') return { type: 'JSON_OBJECT' };
  const { name, description, schema, strict } = format;
  return { type: 'JSON_SCHEMA', jsonSchema: present({ name, description, schema, isStrict: strict }) };
}

function messagesOf(turn: Turn): JsonObject[] {
  switch (turn.role) {
    case 'system':
      return [{ role: 'SYSTEM', content: turn.parts.map(partOf) }];
    case 'user':
      return userMessages(turn);
    case 'assistant':
      return [assistantMessage(turn)];
  }
}

/** Results of tools are messages of their own; what they show follows in the user's message. */
function userMessages({ parts }: UserTurn): JsonObject[] {
  const { results, said } = resultsApart(parts);
  const content = [...shownIn(results), ...said].map(partOf);
  return [
    ...results.map(({ callId, content: result, isError }) => ({
      role: 'TOOL',
      toolCallId: callId,
      content: [{ type: 'TEXT', text: (isError ? 'Error: ' : '') + joinedText(result) }],
    })),
    ...(content.length > 0 ? [{ role: 'USER', content }] : []),
  ];
}

const fieldOf = { image: 'imageUrl', audio: 'audioUrl', video: 'videoUrl', document: 'documentUrl' } as const;

function partOf(part: TextPart | MediaPart): JsonObject {
  if (part.type === 'text') return { type: 'TEXT', text: part.text };
  const { kind, source, mime, detail } = part;
  if (source.from === 'text') return { type: 'TEXT', text: source.text };
  if (source.from === 'file') throw unsupported('messages', 'OCI', 'a file of another provider');
  const url = source.from === 'url' ? source.url : `data:${mime};base64,${source.base64}`;
  return { type: kind.toUpperCase(), [fieldOf[kind]]: present({ url, detail: detail?.toUpperCase() }) };
}

function assistantMessage(turn: AssistantTurn): JsonObject {
  const text = saidBy(turn, 'OCI');
  const calls = turn.parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
  return {
    role: 'ASSISTANT',
    ...((text !== '' || calls.length === 0) && { content: [{ type: 'TEXT', text }] }),
    ...(calls.length > 0 && {
      toolCalls: calls.map(({ id, name, arguments: args }) => ({
        id,
        type: 'FUNCTION',
        name,
        arguments: args === '' ? '{}' : args,
      })),
    }),
  };
}
