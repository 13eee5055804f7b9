/** A conversation, written as a request to Cohere's chat. */
import type {
  AssistantTurn,
  Conversation,
  MediaPart,
  OutputFormat,
  Reasoning,
  TextPart,
  Tool,
  ToolResultPart,
  Turn,
  UserTurn,
} from '../chat/conversation.ts';
import { ownExtras } from '../chat/extras.ts';
import { unsupported } from '../chat/media.ts';
import { joinedText, resultsApart, saidBy, shownIn } from '../chat/turns.ts';
import { RequestFault } from '../faults.ts';
import { present, wordOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';

export function writeRequest(conversation: Conversation): JsonObject {
  if (conversation.count > 1) {
    throw new RequestFault('n', 'Cohere gives one answer a call: leave n out, or set it to 1');
  }
  const tools = toolsOf(conversation);
  return present({
    model: conversation.model,
    messages: conversation.turns.flatMap(messagesOf),
    tools: tools.length > 0 ? tools.map(toolOf) : null,
    strict_tools: tools.some(({ strict }) => strict === true) || null,
    tool_choice: choiceOf(conversation),
    max_tokens: conversation.limit,
    temperature: conversation.temperature,
    p: conversation.topP,
    k: conversation.topK,
    seed: conversation.seed,
    frequency_penalty: conversation.frequencyPenalty,
    presence_penalty: conversation.presencePenalty,
    stop_sequences: conversation.stop.length > 0 ? conversation.stop : null,
    logprobs: conversation.logprobs ? true : null,
    response_format: formatOf(conversation.format),
    thinking: conversation.reasoning && thinkingOf(conversation.reasoning),
    stream: conversation.stream || null,
    ...ownExtras(conversation, 'Cohere'),
  });
}

/** A single tool is forced by being the only one. */
function toolsOf({ tools, hostedTools, toolChoice }: Conversation): readonly Tool[] {
  const [hosted] = hostedTools;
  if (hosted) {
    throw new RequestFault(
      'tools',
      `the tool "${wordOf(hosted.type)}" is run by another provider; Cohere has no such tool`,
    );
  }
  if (toolChoice?.mode !== 'tool') return tools;
  const chosen = tools.filter(({ name }) => name === toolChoice.name);
  if (chosen.length > 0) return chosen;
  throw new RequestFault('tool_choice', `tool_choice names "${toolChoice.name}", which is not among the tools`);
}

const toolOf = ({ name, description, parameters }: Tool): JsonObject => ({
  type: 'function',
  function: present({ name, description, parameters: parameters ?? { type: 'object', properties: {} } }),
});

function choiceOf({ toolChoice }: Conversation): string | null {
  switch (toolChoice?.mode) {
    case 'required':
    case 'tool':
      return 'REQUIRED';
    case 'none':
      return 'NONE';
    default:
      return null;
  }
}

function formatOf(format: OutputFormat): JsonObject | null {
  switch (format.type) {
    case 'text':
      return null;
    case 'json':
      return { type: 'json_object' };
    case 'schema':
      return { type: 'json_object', json_schema: format.schema };
  }
}

/** Cohere knows budgets, not efforts; a high effort is one without a bound. */
const budgets: ReadonlyMap<string, number> = new Map(Object.entries({ minimal: 512, low: 1024, medium: 8192 }));

function thinkingOf(reasoning: Reasoning): JsonObject {
  switch (reasoning.mode) {
    case 'off':
      return { type: 'disabled' };
    case 'budget':
      return { type: 'enabled', token_budget: reasoning.tokens };
    case 'effort':
    case 'adaptive':
      return present({ type: 'enabled', token_budget: budgets.get(reasoning.effort ?? '') });
  }
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

/** Results of tools are messages of their own and hold text; what they show follows in the user's message. */
function userMessages({ parts }: UserTurn): JsonObject[] {
  const { results, said } = resultsApart(parts);
  const content = [...shownIn(results), ...said];
  return [...results.map(toolMessage), ...(content.length > 0 ? [{ role: 'user', content: contentOf(content) }] : [])];
}

function toolMessage({ callId, content, isError }: ToolResultPart): JsonObject {
  const text = joinedText(content);
  const said = text === '' && content.length > 0 ? 'The result is shown in the next message.' : text;
  return { role: 'tool', tool_call_id: callId, content: isError ? `Error: ${said}` : said };
}

const contentOf = (parts: readonly (TextPart | MediaPart)[]): unknown =>
  parts.every((part) => part.type === 'text') ? joinedText(parts) : parts.map(partOf);

function partOf(part: TextPart | MediaPart): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { kind, source, mime, detail } = part;
  if (source.from === 'text') return { type: 'text', text: source.text };
  if (kind !== 'image') throw unsupported('messages', 'Cohere', kind === 'audio' ? 'sound' : `a ${kind}`);
  if (source.from === 'file') throw unsupported('messages', 'Cohere', 'a file of another provider');
  const url = source.from === 'data' ? `data:${mime ?? 'image/png'};base64,${source.base64}` : source.url;
  return { type: 'image_url', image_url: present({ url, detail }) };
}

/** What the model thought before it called tools is its plan; thoughts of finished turns are not asked for again. */
function assistantMessage(turn: AssistantTurn): JsonObject {
  const { parts } = turn;
  const text = saidBy(turn, 'Cohere');
  const plan = parts.map((part) => (part.type === 'thinking' ? part.text : '')).join('');
  const calls = parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
  if (calls.length === 0) return { role: 'assistant', content: text };
  return {
    role: 'assistant',
    ...(text !== '' && { content: text }),
    ...(plan !== '' && { tool_plan: plan }),
    tool_calls: calls.map(({ id, name, arguments: args }) => ({
      id,
      type: 'function',
      function: { name, arguments: args === '' ? '{}' : args },
    })),
  };
}
