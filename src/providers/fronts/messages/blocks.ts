/** The blocks of a message in the making: one is open at a time, those behind it wait with what has come for them. */
import { parsed } from '../../json.ts';
import type { JsonObject } from '../../provider.ts';

export interface Block {
  kind: 'text' | 'thinking' | 'call' | 'whole';
  /** As it stands in the message; grows with its pieces. */
  content: JsonObject;
  /** The arguments of a call, as far as they have come. */
  json: string;
  /** They end as arguments do. */
  closes: boolean;
  /** Nothing more comes for it. */
  ended: boolean;
  /** Pieces that came while another block was open. */
  held: JsonObject[];
}

export const newBlock = (kind: Block['kind'], content: JsonObject): Block => ({
  kind,
  content,
  json: '',
  closes: false,
  ended: kind === 'whole',
  held: [],
});

export class BlockQueue {
  /** All blocks so far, in order. */
  readonly blocks: Block[] = [];
  #at = 0;
  #opened = false;

  /** The block that came last, if more may come for it. */
  get last(): Block | null {
    const block = this.blocks.at(-1);
    return block && !block.ended ? block : null;
  }

  push(block: Block): JsonObject[] {
    this.blocks.push(block);
    return this.#advance();
  }

  /** A piece for one of the blocks. What comes for a closed one is white space behind complete arguments. */
  add(block: Block, delta: JsonObject): JsonObject[] {
    const place = this.blocks.indexOf(block);
    if (place < this.#at) return [];
    if (place > this.#at) {
      block.held.push(delta);
      return [];
    }
    return [deltaEvent(place, delta), ...this.#advance()];
  }

  end(block: Block): JsonObject[] {
    block.ended = true;
    return this.#advance();
  }

  /** The message is over: each block that is left is told whole. */
  endAll(): JsonObject[] {
    for (const block of this.blocks) block.ended = true;
    return this.#advance();
  }

  #advance(): JsonObject[] {
    const events: JsonObject[] = [];
    for (let block = this.blocks[this.#at]; block; block = this.blocks[this.#at]) {
      if (!this.#opened) events.push(...opening(this.#at, block));
      this.#opened = true;
      const followed = this.#at < this.blocks.length - 1;
      if (!block.ended && !(followed && isComplete(block))) break;
      events.push({ type: 'content_block_stop', index: this.#at });
      this.#at++;
      this.#opened = false;
    }
    return events;
  }
}

/** Calls may come interleaved: one whose arguments are not whole yet stays open. */
const isComplete = ({ kind, closes, json }: Block): boolean =>
  kind !== 'call' || (closes && parsed(json) !== undefined);

function opening(index: number, block: Block): JsonObject[] {
  const held = block.held.splice(0);
  return [
    { type: 'content_block_start', index, content_block: empty(block) },
    ...held.map((delta) => deltaEvent(index, delta)),
  ];
}

function empty({ kind, content }: Block): JsonObject {
  switch (kind) {
    case 'text':
      return { type: 'text', text: '' };
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'call':
      return { ...content, input: {} };
    case 'whole':
      return content;
  }
}

const deltaEvent = (index: number, delta: JsonObject): JsonObject => ({ type: 'content_block_delta', index, delta });
