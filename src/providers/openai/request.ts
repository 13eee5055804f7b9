/** A conversation, written as a chat completions request. */
import type {
  AssistantTurn,
  Conversation,
  MediaPart,
  OutputFormat,
  TextPart,
  Tool,
  ToolChoice,
  ToolResultPart,
  Turn,
  UserTurn,
} from '../chat/conversation.ts';
import { joinedText } from '../chat/turns.ts';
import { RequestFault } from '../faults.ts';
import { present } from '../json.ts';
import type { JsonObject } from '../provider.ts';

export function writeRequest(conversation: Conversation): JsonObject {
  const { reasoning, stream } = conversation;
  return present({
    model: conversation.model,
    messages: conversation.turns.flatMap(messagesOf),
    tools: toolsOf(conversation),
    tool_choice: conversation.toolChoice && choiceOf(conversation.toolChoice),
    parallel_tool_calls: conversation.parallelToolCalls,
    max_completion_tokens: conversation.limit,
    temperature: conversation.temperature,
    top_p: conversation.topP,
    seed: conversation.seed,
    frequency_penalty: conversation.frequencyPenalty,
    presence_penalty: conversation.presencePenalty,
    stop: conversation.stop.length > 0 ? conversation.stop : null,
    n: conversation.count > 1 ? conversation.count : null,
    ...(conversation.logprobs && { logprobs: true, top_logprobs: conversation.logprobs.top }),
    reasoning_effort: reasoning && effortOf(reasoning),
    response_format: formatOf(conversation.format),
    user: conversation.user,
    metadata: conversation.metadata,
    service_tier: conversation.serviceTier,
    ...(stream && { stream: true, stream_options: { include_usage: true } }),
    ...conversation.extras,
  });
}

function toolsOf({ tools, hostedTools }: Conversation): JsonObject[] | null {
  const [hosted] = hostedTools;
  if (hosted) {
    throw new RequestFault(
      'tools',
      `the tool "${String(hosted.type)}" is run by the provider that defines it; this one has no such tool`,
    );
  }
  return tools.length > 0 ? tools.map(toolOf) : null;
}

const toolOf = ({ name, description, parameters, strict }: Tool): JsonObject => ({
  type: 'function',
  function: present({ name, description, parameters, strict }),
});

const choiceOf = (choice: ToolChoice): unknown =>
  choice.mode === 'tool' ? { type: 'function', function: { name: choice.name } } : choice.mode;

/** Models of this family know efforts, not budgets. */
function effortOf(reasoning: NonNullable<Conversation['reasoning']>): string | null {
  switch (reasoning.mode) {
    case 'off':
      return 'none';
    case 'effort':
      return reasoning.effort;
    case 'adaptive':
      return reasoning.effort;
    case 'budget':
      return reasoning.tokens <= 1024 ? 'low' : reasoning.tokens <= 8192 ? 'medium' : 'high';
  }
}

function formatOf(format: OutputFormat): JsonObject | null {
  if (format.type === 'text') return null;
  if (format.type === 'json') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return { type: 'json_schema', json_schema: present({ name, description, schema, strict }) };
}

function messagesOf(turn: Turn): JsonObject[] {
  switch (turn.role) {
    case 'system':
      return [{ role: 'system', content: joinedText(turn.parts) }];
    case 'user':
      return userMessages(turn);
    case 'assistant':
      return [assistantMessage(turn)];
  }
}

/** Results of tools are messages of their own, and come before what the user says. */
function userMessages({ parts }: UserTurn): JsonObject[] {
  const results = parts.filter((part) => part.type === 'tool-result');
  const said = parts.filter((part) => part.type !== 'tool-result');
  const shown = results.flatMap(({ content }) => content.filter((part) => part.type === 'media'));
  const content = [...shown, ...said];
  return [...results.map(toolMessage), ...(content.length > 0 ? [{ role: 'user', content: contentOf(content) }] : [])];
}

/** A tool's message holds text only; what it shows follows in the user's message. */
function toolMessage({ callId, content, isError }: ToolResultPart): JsonObject {
  const text = joinedText(content);
  const shows = content.some((part) => part.type === 'media');
  const said = text === '' && shows ? 'The result is shown in the next message.' : text;
  return { role: 'tool', tool_call_id: callId, content: isError ? `Error: ${said}` : said };
}

const contentOf = (parts: readonly (TextPart | MediaPart)[]): unknown =>
  parts.every((part) => part.type === 'text') ? joinedText(parts) : parts.map(partOf);

function partOf(part: TextPart | MediaPart): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { kind, source, mime, name, detail } = part;
  if (source.from === 'text') return { type: 'text', text: source.text };
  if (kind === 'audio' && source.from === 'data') {
    return { type: 'input_audio', input_audio: { data: source.base64, format: audioFormat(mime) } };
  }
  const address = source.from === 'data' ? `data:${mime};base64,${source.base64}` : null;
  if (kind === 'image' && source.from !== 'file') {
    const url = address ?? (source.from === 'url' ? source.url : '');
    return { type: 'image_url', image_url: present({ url, detail }) };
  }
  if (source.from === 'file') return { type: 'file', file: { file_id: source.id } };
  if (source.from === 'url') {
    return { type: 'file', file: present({ file_url: source.url, filename: name, mime_type: mime }) };
  }
  return { type: 'file', file: present({ file_data: address, filename: name ?? 'document' }) };
}

const audioFormat = (mime: string | null): string => mime?.replace(/^audio\//, '').replace('mpeg', 'mp3') ?? 'wav';

function assistantMessage({ parts }: AssistantTurn): JsonObject {
  const text = joinedText(parts);
  const refusal = parts.flatMap((part) => (part.type === 'refusal' ? [part.text] : [])).join('');
  const calls = parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
  return {
    role: 'assistant',
    content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
    ...(refusal !== '' && { refusal }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, arguments: args }) => ({
        id,
        type: 'function',
        function: { name, arguments: args === '' ? '{}' : args },
      })),
    }),
  };
}
