/** The rules of the two event protocols, checked event by event; what a client would have put together is answered. */
import type { ServerEvent } from '../src/providers/provider.ts';
import type { Json } from './harness.ts';

function need(holds: unknown, rule: string, event: Json): asserts holds {
  if (!holds) throw new Error(`${rule}: ${JSON.stringify(event)}`);
}

const parsed = ({ event, data }: ServerEvent): Json => {
  const json = JSON.parse(data);
  need(event === json.type, 'an event is named by its type', json);
  return json;
};

const deltaOf: Record<string, string[]> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  tool_use: ['input_json_delta'],
};

/** Anthropic's stream: one message, blocks one after the other, numbered from 0, each stopped once. */
export function checkedMessage(events: readonly ServerEvent[]): Json {
  let message: Json = null;
  let open: Json = null;
  let ended = false;
  for (const event of events.map(parsed)) {
    need(!ended, 'nothing follows message_stop', event);
    need(message || event.type === 'message_start', 'message_start comes first', event);
    switch (event.type) {
      case 'message_start':
        need(!message, 'there is one message_start', event);
        message = { ...event.message, content: [] };
        need(/^msg_/.test(message.id) && message.type === 'message' && message.stop_reason === null, 'a head', event);
        break;
      case 'content_block_start':
        need(!open && message.stop_reason === null, 'one block is open at a time', event);
        need(event.index === message.content.length, 'blocks are numbered one by one', event);
        open = { ...event.content_block, json: '' };
        need(open.type !== 'tool_use' || Object.keys(open.input).length === 0, 'a call starts empty', event);
        message.content.push(open);
        break;
      case 'content_block_delta': {
        need(open && event.index === message.content.length - 1, 'a delta belongs to the open block', event);
        need(deltaOf[open.type]?.includes(event.delta.type), 'a delta suits its block', event);
        const { text, thinking, signature, partial_json, citation } = event.delta;
        need(
          [text, thinking, partial_json].every((piece) => piece !== ''),
          'no delta is empty',
          event,
        );
        if (text) open.text += text;
        if (thinking) open.thinking += thinking;
        if (signature) open.signature = signature;
        if (partial_json) open.json += partial_json;
        if (citation) open.citations = [...(open.citations ?? []), citation];
        break;
      }
      case 'content_block_stop':
        need(open && event.index === message.content.length - 1, 'the open block is stopped', event);
        if (open.type === 'tool_use' && open.json !== '') open.input = JSON.parse(open.json);
        delete open.json;
        open = null;
        break;
      case 'message_delta':
        need(!open && message.stop_reason === null, 'the reason comes once, behind all blocks', event);
        need(event.delta.stop_reason, 'there is a reason', event);
        Object.assign(message, event.delta, { usage: event.usage });
        break;
      case 'message_stop':
        need(message.stop_reason, 'message_delta comes before', event);
        ended = true;
        break;
      default:
        throw new Error(`Unknown event ${event.type}`);
    }
  }
  if (!ended) throw new Error('The stream has no message_stop');
  return message;
}

/** OpenAI's responses stream: numbered from 0, items and parts opened, filled and closed, the whole response last. Of joined streams the last response is another than the first. */
export function checkedResponse(events: readonly ServerEvent[], source: 'one' | 'joined' = 'one'): Json {
  const items: { id: string; item: Json; done: boolean; parts: Json[]; openPart: boolean }[] = [];
  let last: Json = null;
  const all = events.map(parsed);
  for (const [position, event] of all.entries()) {
    need(event.sequence_number === position, 'events are numbered from 0', event);
    need(!last, 'nothing follows the end', event);
    const [, kind = ''] = event.type.match(/^response\.(.+)$/) ?? [];
    if (position < 2) {
      need(kind === ['created', 'in_progress'][position], 'created and in_progress come first', event);
      need(event.response.status === 'in_progress' && event.response.output.length === 0, 'nothing yet', event);
      continue;
    }
    if (kind === 'completed' || kind === 'incomplete') {
      need(
        items.every(({ done }) => done),
        'every item is closed',
        event,
      );
      need(event.response.status === kind, 'the status says so', event);
      need(source === 'joined' || event.response.id === all[0].response.id, 'the id stays', event);
      last = event.response;
      continue;
    }
    if (kind === 'output_item.added') {
      need(event.output_index === items.length, 'items are numbered one by one', event);
      items.push({ id: event.item.id, item: event.item, done: false, parts: [], openPart: false });
      continue;
    }
    const open = items[event.output_index];
    need(open && !open.done, 'the item is open', event);
    if (kind === 'output_item.done') {
      need(event.item.id === open.id && !open.openPart, 'the item is closed whole', event);
      checkItem(open.parts, event);
      open.done = true;
      open.item = event.item;
      continue;
    }
    need(event.item_id === open.id, 'the id stays', event);
    checkPiece(kind, open, event);
  }
  need(last, 'the stream ends', {});
  need(
    JSON.stringify(last.output) === JSON.stringify(items.map(({ item }) => item)),
    'the output is what was told',
    last,
  );
  return last;
}

interface OpenItem {
  item: Json;
  parts: Json[];
  openPart: boolean;
}

function checkPiece(kind: string, open: OpenItem, event: Json): void {
  const partIndex = event.content_index ?? event.summary_index;
  switch (kind) {
    case 'content_part.added':
    case 'reasoning_summary_part.added':
      need(!open.openPart && partIndex === open.parts.length, 'parts are numbered one by one', event);
      open.parts.push({ type: event.part.type, text: '' });
      open.openPart = true;
      break;
    case 'output_text.delta':
    case 'refusal.delta':
    case 'reasoning_summary_text.delta':
      need(open.openPart && partIndex === open.parts.length - 1 && event.delta !== '', 'a delta fills a part', event);
      open.parts[partIndex].text += event.delta;
      break;
    case 'output_text.annotation.added':
      need(open.openPart, 'an annotation stands on open text', event);
      break;
    case 'output_text.done':
    case 'refusal.done':
    case 'reasoning_summary_text.done':
      need((event.text ?? event.refusal) === open.parts[partIndex].text, 'done tells the whole', event);
      break;
    case 'content_part.done':
    case 'reasoning_summary_part.done':
      need(
        open.openPart && (event.part.text ?? event.part.refusal) === open.parts[partIndex].text,
        'whole part',
        event,
      );
      open.openPart = false;
      break;
    case 'function_call_arguments.delta':
    case 'custom_tool_call_input.delta':
      open.parts[0] ??= { text: '' };
      open.parts[0].text += event.delta;
      break;
    case 'function_call_arguments.done':
    case 'custom_tool_call_input.done':
      need((event.arguments ?? event.input) === (open.parts[0]?.text ?? ''), 'done tells the whole', event);
      break;
    default:
      throw new Error(`Unknown event ${event.type}`);
  }
}

function checkItem(parts: readonly Json[], event: Json): void {
  const { item } = event;
  const told = parts.map(({ text }) => text);
  const kept =
    item.type === 'message'
      ? item.content.map((part: Json) => part.text ?? part.refusal)
      : item.type === 'reasoning'
        ? item.summary.map((part: Json) => part.text)
        : item.type === 'image_generation_call'
          ? []
          : [item.arguments ?? item.input].filter((text) => text !== '');
  need(JSON.stringify(kept) === JSON.stringify(told), 'the item holds what was told', event);
}
