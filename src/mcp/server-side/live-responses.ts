/** The stream of a loop in responses: one sequence and one list of output items over all rounds. */

import { jsonOf, type LiveView, type ModelEvent, ModelStreamFailed } from './live.ts';
import {
  type Approval,
  asList,
  asObject,
  type Executed,
  type Json,
  type LiveStart,
  type ModelCall,
  type OfferedTool,
  sse,
  type ToolRound,
} from './tool-calls.ts';

/** The item that asks a person. */
export const approvalItem = ({ id, label, tool, arguments: given }: Approval): Json => ({
  type: 'mcp_approval_request',
  id,
  server_label: label,
  name: tool,
  arguments: given,
});

export class LiveResponses implements LiveView {
  readonly #shown: LiveStart;
  readonly #ours: ReadonlySet<string>;
  #begun: Json | null = null;
  #sequence = 0;
  /** The output items that the client has, in their order. */
  readonly #output: Json[] = [];
  /** The model's index of an item in this round, and the client's; null where it is not shown. */
  #places = new Map<number, number | null>();
  readonly #calls = new Map<string, number>();
  #response: Json = {};

  constructor(shown: LiveStart) {
    this.#shown = shown;
    this.#ours = new Set(shown.tools.map(({ name }) => name));
  }

  #tell(type: string, fields: Json): string {
    return sse(type, { ...fields, type, sequence_number: this.#sequence++ });
  }

  push(event: ModelEvent): string {
    const told = jsonOf(event.data);
    if (!told) return '';
    const type = String(told.type);
    if (type === 'error' || type === 'response.failed') throw new ModelStreamFailed(event);
    if (type === 'response.completed' || type === 'response.incomplete') {
      this.#response = asObject(told.response);
      return '';
    }
    if (type === 'response.created') return this.#started(asObject(told.response));
    if (type === 'response.in_progress' || type === 'response.queued') return '';
    if (typeof told.output_index !== 'number') return '';
    if (type === 'response.output_item.added') this.#placed(told.output_index, asObject(told.item));
    const place = this.#places.get(told.output_index) ?? null;
    if (place === null) return '';
    if (type === 'response.output_item.done') this.#output[place] = asObject(told.item);
    return this.#tell(type, { ...told, output_index: place });
  }

  #started(response: Json): string {
    if (this.#begun) return '';
    this.#begun = response;
    const opening = this.#tell('response.created', { response }) + this.#tell('response.in_progress', { response });
    const { servers, tools, approved } = this.#shown;
    const lists = servers.map((server, index) => {
      const item = {
        type: 'mcp_list_tools',
        id: `mcpl_${String(response.id)}_${index}`,
        server_label: server.label,
        tools: tools
          .filter((offered) => offered.server === server)
          .map(({ tool, description, schema }) => ({ name: tool, description, input_schema: schema })),
      };
      const output_index = this.#output.push(item) - 1;
      const at = { output_index, item_id: item.id };
      return (
        this.#tell('response.output_item.added', { output_index, item: { ...item, tools: [] } }) +
        this.#tell('response.mcp_list_tools.in_progress', at) +
        this.#tell('response.mcp_list_tools.completed', at) +
        this.#tell('response.output_item.done', { output_index, item })
      );
    });
    const calls = approved.map(({ call, offered, approvalId }) => ({ ...call, tool: offered, approvalId }));
    return opening + lists.join('') + this.executing(calls) + this.executed(approved);
  }

  /** Calls of our tools are shown when they are made. */
  #placed(index: number, item: Json): void {
    const isOurs = item.type === 'function_call' && this.#ours.has(String(item.name));
    this.#places.set(index, isOurs ? null : this.#output.push(item) - 1);
  }

  answer(): Json {
    this.#places = new Map();
    return this.#response;
  }

  executing(calls: readonly (ModelCall & { tool: OfferedTool; approvalId?: string | undefined })[]): string {
    return calls
      .map(({ id, arguments: given, tool, approvalId = null }) => {
        const item = {
          type: 'mcp_call',
          id: `mcp_${id}`,
          status: 'in_progress',
          name: tool.tool,
          arguments: '',
          output: null,
          error: null,
          server_label: tool.server.label,
          approval_request_id: approvalId,
        };
        const output_index = this.#output.push({ ...item, arguments: given }) - 1;
        this.#calls.set(id, output_index);
        const at = { output_index, item_id: item.id };
        return (
          this.#tell('response.output_item.added', { output_index, item }) +
          this.#tell('response.mcp_call.in_progress', at) +
          this.#tell('response.mcp_call_arguments.delta', { ...at, delta: given }) +
          this.#tell('response.mcp_call_arguments.done', { ...at, arguments: given })
        );
      })
      .join('');
  }

  executed(done: readonly (Executed & { call: ModelCall })[]): string {
    return done
      .map(({ call, output, error }) => {
        const output_index = this.#calls.get(call.id);
        if (output_index === undefined) return '';
        const item = {
          ...this.#output[output_index],
          status: error === null ? 'completed' : 'failed',
          output: error === null ? output : null,
          error,
        };
        this.#output[output_index] = item;
        const ended = error === null ? 'response.mcp_call.completed' : 'response.mcp_call.failed';
        return (
          this.#tell(ended, { output_index, item_id: `mcp_${call.id}` }) +
          this.#tell('response.output_item.done', { output_index, item })
        );
      })
      .join('');
  }

  end(final: Json, { approvals }: Pick<ToolRound, 'approvals'>): string {
    const asked = approvals.map(approvalItem).map((item) => {
      const output_index = this.#output.push(item) - 1;
      return (
        this.#tell('response.output_item.added', { output_index, item }) +
        this.#tell('response.output_item.done', { output_index, item })
      );
    });
    const type = final.status === 'incomplete' ? 'response.incomplete' : 'response.completed';
    const { id, created_at } = this.#begun ?? {};
    const response = { ...final, id: id ?? final.id, created_at: created_at ?? final.created_at, output: this.#output };
    return asked.join('') + this.#tell(type, { response });
  }

  fail(message: string): string {
    const error = { code: 'server_error', message };
    const response = { ...this.#begun, status: 'failed', error, output: asList(this.#output) };
    return this.#tell('response.failed', { response });
  }
}
