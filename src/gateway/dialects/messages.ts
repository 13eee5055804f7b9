/** The messages dialect: named events from `message_start` to `message_stop`, content in numbered blocks. */
import { objectsOf } from '../../providers/json.ts';
import type { JsonObject, ServerEvent } from '../../providers/provider.ts';
import { laterUsage, readUsage } from '../../providers/usage.ts';
import { errorBody } from '../errors.ts';
import { type Dialect, jsonOf, noteText, objectIn, reportedFault, type StreamState } from './dialect.ts';

function noteUsage(raw: unknown, state: StreamState): void {
  const usage = readUsage(raw);
  if (usage) state.usage = laterUsage(state.usage, usage);
}

const textDelta = (json: JsonObject): string | null => {
  const delta = objectIn(json, 'delta');
  return json.type === 'content_block_delta' && delta.type === 'text_delta' && typeof delta.text === 'string'
    ? delta.text
    : null;
};

const textIn = (event: ServerEvent): string | null => textDelta(jsonOf(event) ?? {});

const charactersBeside = ({ thinking, partial_json: input }: JsonObject): number =>
  typeof thinking === 'string' ? thinking.length : typeof input === 'string' ? input.length : 0;

/** Some servers put content into the opening already; no other model can go on from there. */
function noteContent(content: unknown, state: StreamState): void {
  for (const { text, thinking, input } of objectsOf(content)) {
    state.beyondText = true;
    if (typeof text === 'string') noteText(state, text);
    else state.characters += typeof thinking === 'string' ? thinking.length : JSON.stringify(input ?? '').length;
  }
}

const isTextBlock = (json: JsonObject): boolean => json.index === 0 && objectIn(json, 'content_block').type === 'text';

const thoughts: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);

const textBlockStop = { event: 'content_block_stop', data: '{"type":"content_block_stop","index":0}' };

export const messagesDialect: Dialect = {
  read(event, state) {
    const again = state.alike.textIn(event);
    if (again !== null) {
      noteText(state, again);
      return 'part';
    }
    const json = jsonOf(event);
    if (!json) return 'malformed';
    switch (json.type) {
      case 'error':
        return reportedFault(json.error);
      case 'message_stop':
        return 'end';
      case 'message_start': {
        const message = objectIn(json, 'message');
        if (typeof message.id === 'string') state.id ??= message.id;
        if (typeof message.model === 'string') state.model ??= message.model;
        noteUsage(message.usage, state);
        state.usageOpen = state.usage !== null;
        noteContent(message.content, state);
        return 'part';
      }
      case 'content_block_start':
        // A second block, or one that is no text, cannot be rebuilt by another model.
        if (isTextBlock(json)) state.block = 'open';
        else {
          state.beyondText = true;
          state.otherContent++;
        }
        return 'part';
      case 'content_block_stop':
        if (json.index === 0) state.block = 'closed';
        return 'part';
      case 'content_block_delta': {
        const text = textDelta(json);
        if (text) {
          noteText(state, text);
          state.alike.learn(event, text, textIn);
        } else state.characters += charactersBeside(objectIn(json, 'delta'));
        return 'part';
      }
      case 'message_delta':
        noteUsage(json.usage, state);
        if (json.usage) state.usageOpen = false;
        if (objectIn(json, 'delta').stop_reason) state.finished = true;
        return 'part';
      default:
        return 'part';
    }
  },
  errorEvent: (error) => ({ event: 'error', data: JSON.stringify(errorBody(error, 'anthropic')) }),
  terminator: { event: 'message_stop', data: '{"type":"message_stop"}' },
  endsWithBytes: false,
  resume: {
    continuation: (body, delivered) => ({
      ...body,
      // This API refuses a prefix that ends in white space.
      messages: [
        ...(Array.isArray(body.messages) ? body.messages : []),
        { role: 'assistant', content: delivered.trimEnd() },
      ],
    }),
    textOf: textIn,
    rewritten(event, text) {
      const json = jsonOf(event) ?? {};
      if (textDelta(json) === null) return event;
      return { event: event.event, data: JSON.stringify({ ...json, delta: { ...objectIn(json, 'delta'), text } }) };
    },
    thoughtFilter({ block }) {
      if (block === 'unopened') return (event) => event;
      const hidden = new Set<unknown>();
      return (event) => {
        const json = jsonOf(event) ?? {};
        // Blocks are numbered from 0: one at `hidden.size` comes before any that is shown.
        const isThought = thoughts.has(objectIn(json, 'content_block').type) && json.index === hidden.size;
        if (isThought) hidden.add(json.index);
        if (isThought || hidden.has(json.index)) return null;
        if (hidden.size === 0 || typeof json.index !== 'number') return event;
        return { event: event.event, data: JSON.stringify({ ...json, index: json.index - hidden.size }) };
      };
    },
    place(event, { block }) {
      const json = jsonOf(event) ?? {};
      if (json.type === 'message_start' || json.type === 'ping') return 'repeated';
      if (block === 'unopened' || json.index !== 0) return 'new';
      if (json.type === 'content_block_start') return isTextBlock(json) ? 'repeated' : 'clash';
      return json.type === 'content_block_stop' && block === 'closed' ? 'repeated' : 'new';
    },
    ends(event) {
      const type = jsonOf(event)?.type;
      return type === 'message_delta' || type === 'message_stop';
    },
    closing: (_, { block }) => (block === 'open' ? [textBlockStop] : []),
  },
};
