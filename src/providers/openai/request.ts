/** A conversation, written as a chat completions request. */
import type {
  AssistantTurn,
  Conversation,
  OutputFormat,
  Tool,
  ToolCallPart,
  ToolChoice,
  ToolResultPart,
  Turn,
  UserTurn,
} from '../chat/conversation.ts';
import { resultsApart, saidBy, shownIn } from '../chat/turns.ts';
import { RequestFault } from '../faults.ts';
import { present, wordOf } from '../json.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import { contentOf } from './content.ts';
import { effortOf } from './reasoning.ts';
import type { OpenAiVariant } from './variant.ts';

export function writeRequest(conversation: Conversation, facts: CallFacts, variant: OpenAiVariant = {}): JsonObject {
  const { reasoning, stream, model } = conversation;
  return present({
    model,
    messages: conversation.turns.flatMap((turn) => messagesOf(turn, variant, facts)),
    tools: toolsOf(conversation, variant),
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
    reasoning_effort: reasoning && effortOf(reasoning, model),
    response_format: formatOf(conversation.format),
    user: conversation.user,
    metadata: conversation.metadata,
    service_tier: conversation.serviceTier,
    ...(stream && { stream: true, stream_options: { include_usage: true } }),
    ...conversation.extras,
  });
}

function toolsOf({ tools, hostedTools }: Conversation, variant: OpenAiVariant): JsonObject[] | null {
  const [hosted] = hostedTools;
  if (hosted) {
    throw new RequestFault(
      'tools',
      `tools: "${wordOf(hosted.type)}" is run by the provider that defines it; this one has no such tool`,
    );
  }
  return tools.length > 0 ? tools.map((tool) => toolOf(tool, variant)) : null;
}

const toolOf = ({ name, description, parameters, strict, cache }: Tool, { cacheMarks }: OpenAiVariant): JsonObject => ({
  type: 'function',
  function: present({ name, description, parameters, strict }),
  ...(cacheMarks && cache && { cache_control: cache }),
});

const choiceOf = (choice: ToolChoice): unknown =>
  choice.mode === 'tool' ? { type: 'function', function: { name: choice.name } } : choice.mode;

function formatOf(format: OutputFormat): JsonObject | null {
  if (format.type === 'text') return null;
  if (format.type === 'json') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return { type: 'json_schema', json_schema: present({ name, description, schema, strict }) };
}

function messagesOf(turn: Turn, variant: OpenAiVariant, facts: CallFacts): JsonObject[] {
  switch (turn.role) {
    case 'system': {
      const marked = variant.cacheMarks && turn.parts.some(({ cache }) => cache);
      const text = turn.parts.map((part) => part.text).join('\n');
      return [{ role: 'system', content: marked ? contentOf(turn.parts, variant, facts) : text }];
    }
    case 'user':
      return userMessages(turn, variant, facts);
    case 'assistant':
      return [assistantMessage(turn, variant)];
  }
}

/** Results of tools are messages of their own, and come before what the user says. */
function userMessages({ parts }: UserTurn, variant: OpenAiVariant, facts: CallFacts): JsonObject[] {
  const { results, said } = resultsApart(parts);
  const content = [...shownIn(results), ...said];
  const speaks = content.length > 0 || results.length === 0;
  return [
    ...results.map((result) => toolMessage(result, variant)),
    ...(speaks ? [{ role: 'user', content: contentOf(content, variant, facts) }] : []),
  ];
}

/** A tool's message holds text only; what it shows follows in the user's message. */
function toolMessage({ callId, content, isError, cache }: ToolResultPart, { cacheMarks }: OpenAiVariant): JsonObject {
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const shows = content.some((part) => part.type === 'media');
  const said = text === '' && shows ? 'The result is shown in the next message.' : text;
  const told = isError ? `Error: ${said}` : said;
  const marked = cacheMarks && cache && told !== '';
  return {
    role: 'tool',
    tool_call_id: callId,
    content: marked ? [{ type: 'text', text: told, cache_control: cache }] : told,
  };
}

function assistantMessage(turn: AssistantTurn, { thoughts }: OpenAiVariant): JsonObject {
  const { parts } = turn;
  const text = saidBy(turn, 'This provider');
  const thought = parts.flatMap((part) => (part.type === 'thinking' ? [part.text] : [])).join('');
  const calls = parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(thoughts && thought !== '' && { [thoughts]: thought }),
    ...(calls.length > 0 && { tool_calls: calls.map(callOf) }),
  };
}

const callOf = ({ id, name, arguments: args, signature }: ToolCallPart): JsonObject => ({
  id,
  type: 'function',
  function: {
    name,
    arguments: args === '' ? '{}' : args,
    ...(signature !== null && { thought_signature: signature }),
  },
});
