/** Server-side tools in OpenAI's responses. */
import { asList, asObject, type Json, referenceIn, type ServerReference, sse, type ToolDialect } from './dialect.ts';

const inputOf = ({ input }: Json): Json[] =>
  typeof input === 'string' ? [{ role: 'user', content: input }] : asList(input);

export const responses: ToolDialect = {
  approval: true,
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
  final(answer, { executed, tools, servers, ours, usage, approvals, limited }) {
    const listed = servers.map((server, index) => ({
      type: 'mcp_list_tools',
      id: `mcpl_${String(answer.id)}_${index}`,
      server_label: server.label,
      tools: tools
        .filter((offered) => offered.server === server)
        .map(({ tool, description, schema }) => ({ name: tool, description, input_schema: schema })),
    }));
    const called = executed.map(({ id, label, tool, arguments: given, output, error }) => ({
      type: 'mcp_call',
      id,
      status: 'completed',
      name: tool,
      arguments: given,
      output: error === null ? output : null,
      error,
      server_label: label,
      approval_request_id: null,
    }));
    const said = asList(answer.output).filter(({ type, name }) => type !== 'function_call' || !ours.has(String(name)));
    return {
      ...answer,
      output: [...listed, ...called, ...said, ...approvals],
      usage,
      ...(limited && { gw_mcp_limited: true }),
    };
  },
  events(answer) {
    let sequence = 0;
    const tell = (type: string, fields: Json): string => sse(type, { type, sequence_number: sequence++, ...fields });
    const begun = { ...answer, status: 'in_progress', output: [], usage: null };
    const opening = tell('response.created', { response: begun }) + tell('response.in_progress', { response: begun });
    const items = asList(answer.output).map((item, output_index) => {
      const added = (shown: Json) => tell('response.output_item.added', { output_index, item: shown });
      const done = () => tell('response.output_item.done', { output_index, item });
      const at = { output_index, item_id: item.id };
      if (item.type === 'mcp_list_tools') {
        return (
          added({ ...item, tools: [] }) +
          tell('response.mcp_list_tools.in_progress', at) +
          tell('response.mcp_list_tools.completed', at) +
          done()
        );
      }
      if (item.type === 'mcp_call') {
        const ended = item.error === null ? 'response.mcp_call.completed' : 'response.mcp_call.failed';
        return (
          added({ ...item, arguments: '', output: null, error: null, status: 'in_progress' }) +
          tell('response.mcp_call.in_progress', at) +
          tell('response.mcp_call_arguments.delta', { ...at, delta: item.arguments }) +
          tell('response.mcp_call_arguments.done', { ...at, arguments: item.arguments }) +
          tell(ended, at) +
          done()
        );
      }
      if (item.type === 'message')
        return added({ ...item, content: [], status: 'in_progress' }) + textEvents(tell, at, item) + done();
      if (item.type === 'function_call') {
        return (
          added({ ...item, arguments: '' }) +
          tell('response.function_call_arguments.delta', { ...at, delta: item.arguments }) +
          tell('response.function_call_arguments.done', { ...at, arguments: item.arguments }) +
          done()
        );
      }
      return added(item) + done();
    });
    return opening + items.join('') + tell('response.completed', { response: answer });
  },
};

function textEvents(tell: (type: string, fields: Json) => string, at: Json, item: Json): string {
  return asList(item.content)
    .map((part, content_index) => {
      const place = { ...at, content_index };
      if (part.type !== 'output_text') {
        return (
          tell('response.content_part.added', { ...place, part }) +
          tell('response.content_part.done', { ...place, part })
        );
      }
      const empty = { ...part, text: '' };
      return (
        tell('response.content_part.added', { ...place, part: empty }) +
        tell('response.output_text.delta', { ...place, delta: asObject(part).text, logprobs: [] }) +
        tell('response.output_text.done', { ...place, text: asObject(part).text, logprobs: [] }) +
        tell('response.content_part.done', { ...place, part })
      );
    })
    .join('');
}
