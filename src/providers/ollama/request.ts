/** A conversation, written as a request of Ollama's own: for what its OpenAI surface does not take. */
import type {
  AssistantTurn,
  Conversation,
  MediaPart,
  OutputFormat,
  Reasoning,
  TextPart,
  UserTurn,
} from '../chat/conversation.ts';
import { inlined, unsupported } from '../chat/media.ts';
import { calledTools, joinedText, resultsApart, saidBy, shownIn } from '../chat/turns.ts';
import { RequestFault } from '../faults.ts';
import { argumentsOf, isObject, present, wordOf } from '../json.ts';
import { effortOfBudget } from '../openai/reasoning.ts';
import type { CallFacts, JsonObject } from '../provider.ts';

/** Fields of a request that only the native surface knows. */
export const nativeFields: readonly string[] = ['think', 'keep_alive', 'options', 'format'];

export function writeRequest(conversation: Conversation, facts: CallFacts): JsonObject {
  const { extras, reasoning, toolChoice } = conversation;
  const [hosted] = conversation.hostedTools;
  if (hosted) throw new RequestFault('tools', `ollama has no tool "${wordOf(hosted.type)}"`);
  if (conversation.count > 1) throw new RequestFault('n', 'ollama answers once: leave n out');
  const { options, ...others } = extras;
  return present({
    model: conversation.model,
    messages: messagesOf(conversation, facts),
    // The choice of a tool has no effect, except that none can be had by naming none.
    tools: toolChoice?.mode === 'none' || conversation.tools.length === 0 ? null : conversation.tools.map(toolOf),
    format: formatOf(conversation.format),
    think: reasoning && thinkOf(reasoning, conversation.model),
    stream: conversation.stream,
    options: optionsOf(conversation, options),
    ...others,
  });
}

/** What the client writes in Ollama's own words stands. */
function optionsOf(conversation: Conversation, written: unknown): JsonObject | null {
  const options = present({
    num_predict: conversation.limit,
    temperature: conversation.temperature,
    top_p: conversation.topP,
    top_k: conversation.topK,
    seed: conversation.seed,
    frequency_penalty: conversation.frequencyPenalty,
    presence_penalty: conversation.presencePenalty,
    stop: conversation.stop.length > 0 ? conversation.stop : null,
    ...(isObject(written) && written),
  });
  return Object.keys(options).length > 0 ? options : null;
}

const toolOf = ({ name, description, parameters }: Conversation['tools'][number]): JsonObject => ({
  type: 'function',
  function: present({ name, description, parameters }),
});

const formatOf = (format: OutputFormat): unknown =>
  format.type === 'text' ? null : format.type === 'json' ? 'json' : format.schema;

/** Most models are told whether to think; only one family how hard. */
function thinkOf(reasoning: Reasoning, model: string): boolean | string {
  if (reasoning.mode === 'off') return false;
  const effort = reasoning.mode === 'budget' ? effortOfBudget(reasoning.tokens) : reasoning.effort;
  if (effort === 'none') return false;
  return effort !== null && model.includes('gpt-oss') && ['low', 'medium', 'high'].includes(effort) ? effort : true;
}

function messagesOf(conversation: Conversation, facts: CallFacts): JsonObject[] {
  const names = calledTools(conversation);
  return conversation.turns.flatMap((turn) => {
    if (turn.role === 'system') return [{ role: 'system', content: joinedText(turn.parts) }];
    return turn.role === 'user' ? userMessages(turn, names, facts) : [assistantMessage(turn)];
  });
}

/** Results of tools are messages of their own and hold text; what they show follows in the user's message. */
function userMessages({ parts }: UserTurn, names: ReadonlyMap<string, string>, facts: CallFacts): JsonObject[] {
  const { results, said } = resultsApart(parts);
  const content = [...shownIn(results), ...said];
  const tools = results.map(({ callId, name, content: result, isError }) => ({
    role: 'tool',
    content: (isError ? 'Error: ' : '') + joinedText(result),
    tool_name: name ?? names.get(callId) ?? '',
  }));
  if (content.length === 0) return tools;
  const images = content.flatMap((part) => imageIn(part, facts));
  return [...tools, { role: 'user', content: content.map(textIn).join(''), ...(images.length > 0 && { images }) }];
}

/** A document that is text is read as such. */
const textIn = (part: TextPart | MediaPart): string =>
  part.type === 'text' ? part.text : part.source.from === 'text' ? part.source.text : '';

function imageIn(part: TextPart | MediaPart, facts: CallFacts): string[] {
  if (part.type === 'text' || part.source.from === 'text') return [];
  const bytes = part.kind === 'image' ? inlined(part, facts) : null;
  if (bytes) return [bytes.base64];
  throw unsupported('messages', 'ollama', part.kind === 'image' ? 'an image by its id' : `a ${part.kind}`);
}

function assistantMessage(turn: AssistantTurn): JsonObject {
  const { parts } = turn;
  const thinking = parts.map((part) => (part.type === 'thinking' ? part.text : '')).join('');
  const calls = parts.flatMap((part) =>
    part.type === 'tool-call' ? [{ function: { name: part.name, arguments: argumentsOf(part.arguments) } }] : [],
  );
  return {
    role: 'assistant',
    content: saidBy(turn, 'ollama'),
    ...(thinking !== '' && { thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}
