/** The stream of a loop in messages. */

import { jsonOf, type LiveView, type ModelEvent, ModelStreamFailed } from './live.ts';
import { asList, asObject, type Executed, type Json, type LiveStart, sse } from './tool-calls.ts';

interface Block {
  block: Json;
  /** Under which index the client has it; null where it was not shown. */
  shownAt: number | null;
  json: string;
}

export class LiveMessages implements LiveView {
  #head: Json | null = null;
  #next = 0;
  #blocks = new Map<number, Block>();
  #stop: Json = {};
  #usage: Json = {};
  readonly #approved: LiveStart['approved'];

  constructor({ approved }: LiveStart) {
    this.#approved = approved;
  }

  push(event: ModelEvent): string {
    const told = jsonOf(event.data);
    if (!told) return '';
    const { type } = told;
    if (type === 'error') throw new ModelStreamFailed(event);
    if (type === 'message_start') return this.#started(asObject(told.message));
    if (type === 'content_block_start') return this.#opened(Number(told.index), asObject(told.content_block));
    if (type === 'content_block_delta') return this.#grown(told, asObject(told.delta));
    if (type === 'message_delta') {
      this.#stop = asObject(told.delta);
      this.#usage = { ...this.#usage, ...asObject(told.usage) };
      return '';
    }
    if (type === 'message_stop') return '';
    const known = type === 'content_block_stop' ? this.#blocks.get(Number(told.index)) : undefined;
    if (type !== 'content_block_stop') return type === 'ping' ? sse('ping', told) : '';
    return known?.shownAt == null ? '' : sse('content_block_stop', { ...told, index: known.shownAt });
  }

  #started(message: Json): string {
    this.#usage = asObject(message.usage);
    const isFirst = this.#head === null;
    this.#head ??= message;
    return isFirst ? sse('message_start', { type: 'message_start', message }) + this.executed(this.#approved) : '';
  }

  #opened(index: number, block: Json): string {
    const isHidden = block.type === 'tool_use';
    const shownAt = isHidden ? null : this.#next++;
    this.#blocks.set(index, { block: { ...block }, shownAt, json: '' });
    return shownAt === null
      ? ''
      : sse('content_block_start', { type: 'content_block_start', index: shownAt, content_block: block });
  }

  #grown(told: Json, delta: Json): string {
    const known = this.#blocks.get(Number(told.index));
    if (!known) return '';
    const { block } = known;
    if (delta.type === 'input_json_delta') known.json += String(delta.partial_json ?? '');
    else {
      for (const [name, value] of Object.entries(delta)) {
        if (name === 'type' || typeof value !== 'string') continue;
        block[name] = (typeof block[name] === 'string' ? block[name] : '') + value;
      }
    }
    return known.shownAt === null ? '' : sse('content_block_delta', { ...told, index: known.shownAt });
  }

  answer(): Json {
    const content = [...this.#blocks.values()].map(({ block, json }) =>
      block.type === 'tool_use' && json !== '' ? { ...block, input: jsonOf(json) ?? {} } : block,
    );
    const { stop_reason = 'end_turn', stop_sequence = null } = this.#stop;
    const answer = { ...this.#head, content, stop_reason, stop_sequence, usage: this.#usage };
    this.#blocks = new Map();
    this.#stop = {};
    return answer;
  }

  executing(): string {
    return '';
  }

  executed(done: readonly Executed[]): string {
    return done
      .map(({ id, label, tool, arguments: given, output, error }) => {
        const use = { type: 'mcp_tool_use', id, name: tool, server_name: label, input: {} };
        const result = {
          type: 'mcp_tool_result',
          tool_use_id: id,
          is_error: error !== null,
          content: [{ type: 'text', text: output }],
        };
        return this.#block(use, given) + this.#block(result);
      })
      .join('');
  }

  #block(block: Json, json: string | null = null): string {
    const index = this.#next++;
    return (
      sse('content_block_start', { type: 'content_block_start', index, content_block: block }) +
      (json === null
        ? ''
        : sse('content_block_delta', {
            type: 'content_block_delta',
            index,
            delta: { type: 'input_json_delta', partial_json: json },
          })) +
      sse('content_block_stop', { type: 'content_block_stop', index })
    );
  }

  end(final: Json): string {
    const theirs = asList(final.content).filter(({ type }) => type === 'tool_use');
    const { stop_reason, stop_sequence = null, usage, gw_mcp_limited } = final;
    const flag = gw_mcp_limited === undefined ? {} : { gw_mcp_limited };
    return [
      ...theirs.map((block) => this.#block({ ...block, input: {} }, JSON.stringify(block.input ?? {}))),
      sse('message_delta', { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage, ...flag }),
      sse('message_stop', { type: 'message_stop' }),
    ].join('');
  }

  fail(message: string): string {
    return sse('error', { type: 'error', error: { type: 'api_error', message } });
  }
}
