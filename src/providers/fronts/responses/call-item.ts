/** A tool call of a response in the making: a function's arguments as they come, or free text once it is whole. */
import { parsed } from '../../json.ts';
import type { JsonObject } from '../../provider.ts';
import { inputOfArguments } from '../custom-tools.ts';
import type { Tell } from './parts.ts';

export class CallItem {
  readonly #tell: Tell;
  readonly #id: string;
  readonly #called: { call_id: string; name: string };
  readonly #custom: boolean;
  readonly #index: number;
  #arguments = '';

  constructor(tell: Tell, item: { id: string; callId: string; name: string; custom: boolean; index: number }) {
    this.#tell = tell;
    this.#id = item.id;
    this.#called = { call_id: item.callId, name: item.name };
    this.#custom = item.custom;
    this.#index = item.index;
  }

  get index(): number {
    return this.#index;
  }

  /** Nothing but white space can follow. */
  get isWhole(): boolean {
    return parsed(this.#arguments) !== undefined;
  }

  json(status: string): JsonObject {
    return this.#custom
      ? { id: this.#id, type: 'custom_tool_call', status, ...this.#called, input: inputOfArguments(this.#arguments) }
      : { id: this.#id, type: 'function_call', status, ...this.#called, arguments: this.#arguments };
  }

  argue(delta: string): JsonObject[] {
    this.#arguments += delta;
    return this.#custom || delta === '' ? [] : [this.#told('response.function_call_arguments.delta', { delta })];
  }

  close(): JsonObject[] {
    if (!this.#custom) {
      const { name } = this.#called;
      return [this.#told('response.function_call_arguments.done', { name, arguments: this.#arguments })];
    }
    const input = inputOfArguments(this.#arguments);
    return [
      ...(input === '' ? [] : [this.#told('response.custom_tool_call_input.delta', { delta: input })]),
      this.#told('response.custom_tool_call_input.done', { input }),
    ];
  }

  #told(type: string, fields: JsonObject): JsonObject {
    return this.#tell(type, { item_id: this.#id, output_index: this.#index, ...fields });
  }
}
