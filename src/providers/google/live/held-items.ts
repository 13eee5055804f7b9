/** Items that the provider was not told of yet: as OpenAI's do, they wait for the response that is asked for. */
import { RequestFault } from '../../faults.ts';
import type { JsonObject } from '../../provider.ts';
import { canBeTyped, type LiveTurn } from './items.ts';

type Held = { turn: LiveTurn } | { system: string } | { result: JsonObject };

const mostCharacters = 24 * 1024 * 1024;

export class HeldItems {
  #entries: { id: string; held: Held; length: number }[] = [];
  #length = 0;

  add(id: string, held: Held): void {
    const { length } = JSON.stringify(held);
    if (this.#length + length > mostCharacters) {
      throw new RequestFault('item', 'too much waits for a response already: ask for one first');
    }
    this.#entries.push({ id, held, length });
    this.#length += length;
  }

  /** False when it is not held. */
  remove(id: string): boolean {
    const { length } = this.#entries;
    this.#keep((entry) => entry.id !== id);
    return this.#entries.length < length;
  }

  get turns(): LiveTurn[] {
    return this.#entries.flatMap(({ held }) => ('turn' in held ? [held.turn] : []));
  }

  get results(): JsonObject[] {
    return this.#entries.flatMap(({ held }) => ('result' in held ? [held.result] : []));
  }

  takeTurns(): LiveTurn[] {
    const { turns } = this;
    this.#keep(({ held }) => !('turn' in held));
    return turns;
  }

  /** The turns before the last ones that can be typed. */
  takeHistory(): LiveTurn[] {
    const { turns } = this;
    const history = turns.slice(0, turns.findLastIndex((turn) => !canBeTyped(turn)) + 1);
    this.#keep(({ held }) => !('turn' in held && history.includes(held.turn)));
    return history;
  }

  takeResults(): JsonObject[] {
    const { results } = this;
    this.#keep(({ held }) => !('result' in held));
    return results;
  }

  takeSystem(): string[] {
    const texts = this.#entries.flatMap(({ held }) => ('system' in held ? [held.system] : []));
    this.#keep(({ held }) => !('system' in held));
    return texts;
  }

  #keep(stays: (entry: { id: string; held: Held }) => boolean): void {
    this.#entries = this.#entries.filter(stays);
    this.#length = this.#entries.reduce((sum, { length }) => sum + length, 0);
  }
}
