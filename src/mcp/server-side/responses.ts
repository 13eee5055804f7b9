/** Server-side tools in OpenAI's responses. */

import { approvalPrefix } from './approvals.ts';
import type { ToolDialect } from './dialect.ts';
import { approvalItem, LiveResponses } from './live-responses.ts';
import { type Answered, asList, type Json, referenceIn, type ServerReference } from './tool-calls.ts';

const inputOf = ({ input }: Json): Json[] =>
  typeof input === 'string' ? [{ role: 'user', content: input }] : asList(input);

/** What only the model's side says: behind it stands an earlier turn. */
const isAnswer = ({ type, role }: Json): boolean => type === 'mcp_call' || role === 'assistant';

export const responses: ToolDialect = {
  references(body) {
    const servers: ServerReference[] = [];
    const kept = asList(body.tools).filter((tool) => {
      const found = tool.type === 'mcp' ? referenceIn(tool.server_label) : null;
      if (!found) return true;
      const allowed = Array.isArray(tool.allowed_tools) ? new Set(tool.allowed_tools.map(String)) : null;
      servers.push({ slug: found.slug, label: String(tool.server_label), wants: (name) => allowed?.has(name) ?? true });
      return false;
    });
    const { tools: _tools, ...rest } = body;
    return { servers, rest: kept.length > 0 ? { ...rest, tools: kept } : rest };
  },
  replayed(body, nameOf) {
    if (!Array.isArray(body.input)) return body;
    const input = asList(body.input).flatMap((item): Json[] => {
      if (!referenceIn(item.server_label)) return [item];
      if (item.type === 'mcp_list_tools') return [];
      // Nobody has answered it, and no provider knows its id.
      if (item.type === 'mcp_approval_request') return [];
      if (item.type !== 'mcp_call') return [item];
      const name = nameOf(String(item.server_label), String(item.name));
      return [
        { type: 'function_call', call_id: item.id, name, arguments: item.arguments },
        { type: 'function_call_output', call_id: item.id, output: String(item.output ?? item.error ?? '') },
      ];
    });
    return { ...body, input };
  },
  withTools(body, tools) {
    if (tools.length === 0) return body;
    const added = tools.map(({ name, description, schema }) => ({
      type: 'function',
      name,
      description,
      parameters: schema,
      strict: false,
    }));
    return { ...body, tools: [...asList(body.tools), ...added] };
  },
  calls: (answer) =>
    asList(answer.output)
      .filter(({ type }) => type === 'function_call')
      .map(({ call_id, name, arguments: given }) => ({
        id: String(call_id),
        name: String(name),
        arguments: typeof given === 'string' ? given : '{}',
      })),
  next(body, answer, ours) {
    return {
      ...body,
      input: [
        ...inputOf(body),
        ...asList(answer.output),
        ...ours.map(({ call, output }) => ({ type: 'function_call_output', call_id: call.id, output })),
      ],
    };
  },
  answered: (body) => {
    const items = asList(body.input);
    return items.flatMap((response, at): Answered[] => {
      if (response.type !== 'mcp_approval_response') return [];
      const id = String(response.approval_request_id ?? '');
      const request = items.find((item) => item.type === 'mcp_approval_request' && item.id === id);
      if (!id.startsWith(approvalPrefix) || (request && !referenceIn(request.server_label))) return [];
      return [
        {
          id,
          label: String(request?.server_label ?? ''),
          name: String(request?.name ?? ''),
          arguments: String(request?.arguments ?? '{}'),
          approve: response.approve === true,
          settled: items.slice(at).some(isAnswer),
        },
      ];
    });
  },
  resolved(body, outcomes) {
    const input = asList(body.input).flatMap((item): Json[] => {
      if (item.type === 'mcp_approval_request' && outcomes.has(String(item.id))) return [];
      const outcome = outcomes.get(String(item.approval_request_id));
      if (item.type !== 'mcp_approval_response' || !outcome) return [item];
      // Made in an earlier turn: the call itself follows.
      if (outcome.settled && item.approve === true) return [];
      const { call, output } = outcome;
      return [
        { type: 'function_call', call_id: call.id, name: call.name, arguments: call.arguments },
        { type: 'function_call_output', call_id: call.id, output },
      ];
    });
    return { ...body, input };
  },
  final(answer, { executed, tools, servers, ours, usage, approvals, limited, isStrict }) {
    const listed = servers.map((server, index) => ({
      type: 'mcp_list_tools',
      id: `mcpl_${String(answer.id)}_${index}`,
      server_label: server.label,
      tools: tools
        .filter((offered) => offered.server === server)
        .map(({ tool, description, schema }) => ({ name: tool, description, input_schema: schema })),
    }));
    const called = executed.map(({ id, label, tool, arguments: given, output, error, approvalId = null }) => ({
      type: 'mcp_call',
      id,
      status: error === null ? 'completed' : 'failed',
      name: tool,
      arguments: given,
      output: error === null ? output : null,
      error,
      server_label: label,
      approval_request_id: approvalId,
    }));
    const said = asList(answer.output).filter(({ type, name }) => type !== 'function_call' || !ours.has(String(name)));
    return {
      ...answer,
      output: [...listed, ...called, ...said, ...approvals.map(approvalItem)],
      usage,
      ...(limited && !isStrict && { gw_mcp_limited: true }),
    };
  },
  live: (_, shown) => new LiveResponses(shown),
  streaming: (body) => ({ ...body, stream: true }),
};
