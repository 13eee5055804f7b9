/** A conversation, written as a request for a response that is not kept. */
import type {
  AssistantPart,
  Conversation,
  MediaPart,
  OutputFormat,
  TextPart,
  ToolChoice,
  ToolResultPart,
  Turn,
} from '../../chat/conversation.ts';
import { inlined, unsupported } from '../../chat/media.ts';
import { resultsApart } from '../../chat/turns.ts';
import { RequestFault } from '../../faults.ts';
import { present } from '../../json.ts';
import type { CallFacts, JsonObject } from '../../provider.ts';
import { effortOf } from '../reasoning.ts';
import { opened } from './proof.ts';
import { settingsOf } from './settings.ts';

export function writeRequest(conversation: Conversation, facts: CallFacts): JsonObject {
  refuseMissing(conversation);
  const { turns, toolChoice, logprobs, stream } = conversation;
  const { verbosity, tools, others } = settingsOf(conversation);
  return present({
    model: conversation.model,
    input: turns.flatMap((turn) => itemsOf(turn, facts)),
    tools: tools.length > 0 ? tools : null,
    tool_choice: toolChoice && choiceOf(toolChoice),
    parallel_tool_calls: conversation.parallelToolCalls,
    max_output_tokens: conversation.limit,
    temperature: conversation.temperature,
    top_p: conversation.topP,
    top_logprobs: logprobs?.top,
    reasoning: reasoningOf(conversation),
    text: textOptions(conversation.format, verbosity),
    user: conversation.user,
    metadata: conversation.metadata,
    service_tier: conversation.serviceTier,
    store: false,
    include: ['reasoning.encrypted_content', ...(logprobs ? ['message.output_text.logprobs'] : [])],
    stream: stream || null,
    ...others,
  });
}

/** What this API has no word for, and an answer cannot do without. */
function refuseMissing({ stop, count, frequencyPenalty, presencePenalty }: Conversation): void {
  if (stop.length > 0) throw new RequestFault('stop', 'stop: this model takes no stop sequences');
  if (count > 1) throw new RequestFault('n', 'n: this model gives one answer at a time');
  if (frequencyPenalty) throw new RequestFault('frequency_penalty', 'frequency_penalty: this model takes none');
  if (presencePenalty) throw new RequestFault('presence_penalty', 'presence_penalty: this model takes none');
}

const choiceOf = (choice: ToolChoice): unknown =>
  choice.mode === 'tool' ? { type: 'function', name: choice.name } : choice.mode;

function reasoningOf({ reasoning, showReasoning, model }: Conversation): JsonObject | null {
  const effort = reasoning && effortOf(reasoning, model);
  const summary = showReasoning ? 'auto' : null;
  return effort || summary ? present({ effort, summary }) : null;
}

function textOptions(format: OutputFormat, verbosity: unknown): JsonObject | null {
  const options = present({ format: formatOf(format), verbosity });
  return Object.keys(options).length > 0 ? options : null;
}

function formatOf(format: OutputFormat): JsonObject | null {
  if (format.type === 'text') return null;
  if (format.type === 'json') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return { type: 'json_schema', ...present({ name, description, schema, strict }) };
}

function itemsOf(turn: Turn, facts: CallFacts): JsonObject[] {
  if (turn.role === 'system') {
    return [{ role: 'developer', content: turn.parts.map(({ text }) => text).join('\n') }];
  }
  if (turn.role === 'assistant') return turn.parts.flatMap(assistantItem);
  const { results, said } = resultsApart(turn.parts);
  return [
    ...results.map((result) => outputOf(result, facts)),
    ...(said.length > 0 ? [{ role: 'user', content: contentOf(said, facts) }] : []),
  ];
}

function outputOf({ callId, content, isError }: ToolResultPart, facts: CallFacts): JsonObject {
  const [only, ...others] = content;
  const mark = isError ? 'Error: ' : '';
  const plain = others.length === 0 && only?.type !== 'media';
  const output = plain
    ? mark + (only?.text ?? '')
    : [...(isError ? [{ type: 'input_text', text: 'Error:' }] : []), ...content.map((part) => partOf(part, facts))];
  return { type: 'function_call_output', call_id: callId, output };
}

function contentOf(parts: readonly (TextPart | MediaPart)[], facts: CallFacts): string | JsonObject[] {
  const [first, ...others] = parts;
  return first?.type === 'text' && others.length === 0 ? first.text : parts.map((part) => partOf(part, facts));
}

function partOf(part: TextPart | MediaPart, facts: CallFacts): JsonObject {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  const { kind, source, name, detail } = part;
  if (source.from === 'text') return { type: 'input_text', text: source.text };
  if (kind === 'audio' || kind === 'video') throw unsupported('messages', 'This model', kind);
  if (source.from === 'file') return { type: kind === 'image' ? 'input_image' : 'input_file', file_id: source.id };
  const held = inlined(part, facts);
  const address = held ? `data:${held.mime};base64,${held.base64}` : null;
  if (kind === 'image') {
    const url = address ?? (source.from === 'url' ? source.url : '');
    return { type: 'input_image', image_url: url, detail: detail ?? 'auto' };
  }
  return address
    ? { type: 'input_file', filename: name ?? 'document.pdf', file_data: address }
    : { type: 'input_file', ...(source.from === 'url' && { file_url: source.url }) };
}

function assistantItem(part: AssistantPart): JsonObject[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return [{ role: 'assistant', content: part.text }];
    case 'tool-call':
      return [{ type: 'function_call', call_id: part.id, name: part.name, arguments: part.arguments || '{}' }];
    case 'thinking': {
      const proof = part.signature === null ? null : opened(part.signature);
      const summary = part.text === '' ? [] : [{ type: 'summary_text', text: part.text }];
      return proof ? [{ type: 'reasoning', ...proof, summary }] : [];
    }
    case 'redacted-thinking':
      return [];
    case 'media':
      throw unsupported('messages', 'This model', "an image in an assistant's turn");
  }
}
