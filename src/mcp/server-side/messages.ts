/** Server-side tools in Anthropic's messages. */
import { readJson } from '../../bounded-json.ts';
import { approvalPrefix, verdictIn } from './approvals.ts';
import type { ToolDialect } from './dialect.ts';
import { LiveMessages } from './live-messages.ts';
import { type Answered, asList, asObject, type Json, referenceIn, type ServerReference } from './tool-calls.ts';

const toolsOf = ({ tools }: Json): Json[] => (Array.isArray(tools) ? asList(tools) : tools ? [asObject(tools)] : []);

/** A toolset may switch single tools on or off. */
function toolsetOf(server: Json, toolset: Json | undefined): ServerReference | null {
  const found = referenceIn(server.name);
  if (!found) return null;
  const byDefault = asObject(toolset?.default_config).enabled !== false;
  const configs = asObject(toolset?.configs);
  return {
    slug: found.slug,
    label: String(server.name),
    wants: (name) => {
      const { enabled } = asObject(configs[name]);
      return typeof enabled === 'boolean' ? enabled : byDefault;
    },
  };
}

const isWaiting = ({ type, id }: Json): boolean => type === 'tool_use' && String(id).startsWith(approvalPrefix);
const answers = ({ type, tool_use_id }: Json, id: unknown): boolean => type === 'tool_result' && tool_use_id === id;

export const messages: ToolDialect = {
  references(body) {
    const tools = toolsOf(body);
    const servers = asList(body.mcp_servers).flatMap((server) => {
      const toolset = tools.find(
        ({ type, mcp_server_name }) => type === 'mcp_toolset' && mcp_server_name === server.name,
      );
      return toolsetOf(server, toolset) ?? [];
    });
    const labels = new Set(servers.map(({ label }) => label));
    const keptServers = asList(body.mcp_servers).filter(({ name }) => !labels.has(String(name)));
    const keptTools = tools.filter(
      ({ type, mcp_server_name }) => type !== 'mcp_toolset' || !labels.has(String(mcp_server_name)),
    );
    const { tools: _tools, mcp_servers: _servers, ...rest } = body;
    return {
      servers,
      rest: {
        ...rest,
        ...(keptTools.length > 0 && { tools: keptTools }),
        ...(keptServers.length > 0 && { mcp_servers: keptServers }),
      },
    };
  },
  replayed(body, nameOf) {
    const turns = asList(body.messages).flatMap((turn): Json[] => {
      const blocks = asList(turn.content);
      if (
        turn.role !== 'assistant' ||
        !blocks.some(({ type, server_name }) => type === 'mcp_tool_use' && referenceIn(server_name))
      )
        return [turn];
      const parts: Json[] = [];
      let said: Json[] = [];
      for (const block of blocks) {
        if (block.type === 'mcp_tool_use') {
          said.push({
            type: 'tool_use',
            id: block.id,
            name: nameOf(String(block.server_name), String(block.name)),
            input: block.input,
          });
        } else if (block.type === 'mcp_tool_result') {
          parts.push({ role: 'assistant', content: said });
          parts.push({
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: block.tool_use_id,
                content: block.content,
                is_error: block.is_error === true,
              },
            ],
          });
          said = [];
        } else {
          said.push(block);
        }
      }
      if (said.length > 0) parts.push({ role: 'assistant', content: said });
      return parts;
    });
    return { ...body, messages: turns };
  },
  withTools(body, tools) {
    if (tools.length === 0) return body;
    const added = tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema }));
    return { ...body, tools: [...toolsOf(body), ...added] };
  },
  calls: (answer) =>
    asList(answer.content)
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input }) => ({ id: String(id), name: String(name), arguments: JSON.stringify(input ?? {}) })),
  next(body, answer, ours) {
    return {
      ...body,
      messages: [
        ...asList(body.messages),
        { role: 'assistant', content: answer.content },
        {
          role: 'user',
          content: ours.map(({ call, output, error }) => ({
            type: 'tool_result',
            tool_use_id: call.id,
            content: output,
            ...(error !== null && { is_error: true }),
          })),
        },
      ],
    };
  },
  answered: (body) => {
    const turns = asList(body.messages);
    const calls = turns.flatMap(({ role, content }) => (role === 'assistant' ? asList(content) : [])).filter(isWaiting);
    return calls.map(({ id, name, input }): Answered => {
      const at = turns.findIndex(({ content }) => asList(content).some((block) => answers(block, id)));
      const result = asList(turns[at]?.content).find((block) => answers(block, id));
      return {
        id: String(id),
        label: null,
        name: String(name),
        arguments: JSON.stringify(input ?? {}),
        approve: verdictIn(result?.content),
        settled: turns.slice(at).some(({ role }) => role === 'assistant'),
      };
    });
  },
  resolved(body, outcomes) {
    const messages = asList(body.messages).map((turn) => {
      if (!Array.isArray(turn.content)) return turn;
      const content = asList(turn.content).map((block) => {
        const asked = isWaiting(block) ? outcomes.get(String(block.id)) : undefined;
        if (asked) return { ...block, id: asked.call.id };
        const answered = block.type === 'tool_result' ? outcomes.get(String(block.tool_use_id)) : undefined;
        return answered ? { ...block, tool_use_id: answered.call.id, content: answered.output } : block;
      });
      return { ...turn, content };
    });
    return { ...body, messages };
  },
  final(answer, { executed, ours, usage, approvals, limited }) {
    const shown = executed.flatMap(({ id, label, tool, arguments: given, output, error }): Json[] => [
      { type: 'mcp_tool_use', id, name: tool, server_name: label, input: parsed(given) },
      { type: 'mcp_tool_result', tool_use_id: id, is_error: error !== null, content: [{ type: 'text', text: output }] },
    ]);
    const said = asList(answer.content).filter(({ type, name }) => type !== 'tool_use' || !ours.has(String(name)));
    const asked = approvals.map(({ id, name, arguments: given }) => ({
      type: 'tool_use',
      id,
      name,
      input: parsed(given),
    }));
    return { ...answer, content: [...shown, ...said, ...asked], usage, ...(limited && { gw_mcp_limited: true }) };
  },
  live: (_, shown) => new LiveMessages(shown),
  streaming: (body) => ({ ...body, stream: true }),
};

function parsed(text: string): Json {
  try {
    return asObject(readJson(text));
  } catch {
    return {};
  }
}
