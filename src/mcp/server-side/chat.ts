/** Server-side tools in chat completions. */

import { approvalPrefix, verdictIn } from './approvals.ts';
import type { ToolDialect } from './dialect.ts';
import { LiveChat } from './live-chat.ts';
import { type Answered, asList, asObject, type Json, referenceIn, type ServerReference } from './tool-calls.ts';

/** Calls that wait for a person are told by their id. */
const isWaiting = ({ id }: Json): boolean => String(id).startsWith(approvalPrefix);

const message = (answer: Json): Json => asObject(asList(answer.choices)[0]?.message);

export const chat: ToolDialect = {
  references(body) {
    const servers = new Map<string, ServerReference & { only: Set<string> | null }>();
    const kept = asList(body.tools).filter((tool) => {
      const label = tool.type === 'mcp' ? tool.server_label : asObject(tool.function).name;
      const found = referenceIn(label);
      if (!found) return true;
      const allowed = Array.isArray(tool.allowed_tools)
        ? tool.allowed_tools.map(String)
        : found.tool === null
          ? null
          : [found.tool];
      const known = servers.get(found.slug);
      const only = allowed === null || known?.only === null ? null : new Set([...(known?.only ?? []), ...allowed]);
      servers.set(found.slug, {
        slug: found.slug,
        label: `@gw-mcp/${found.slug}`,
        only,
        wants: (name) => only?.has(name) ?? true,
      });
      return false;
    });
    const { tools: _tools, ...rest } = body;
    return { servers: [...servers.values()], rest: kept.length > 0 ? { ...rest, tools: kept } : rest };
  },
  replayed(body, nameOf) {
    const messages = asList(body.messages).flatMap((one): Json[] => {
      const executed = asList(one.gw_mcp);
      if (executed.length === 0) return [one];
      const { gw_mcp: _mcp, ...rest } = one;
      return [
        {
          role: 'assistant',
          content: null,
          tool_calls: executed.map(({ id, server, tool, arguments: given }) => ({
            id,
            type: 'function',
            function: { name: nameOf(String(server), String(tool)), arguments: given },
          })),
        },
        ...executed.map(({ id, output }) => ({ role: 'tool', tool_call_id: id, content: output })),
        rest,
      ];
    });
    return { ...body, messages };
  },
  withTools(body, tools) {
    if (tools.length === 0) return body;
    const added = tools.map(({ name, description, schema }) => ({
      type: 'function',
      function: { name, description, parameters: schema },
    }));
    return { ...body, tools: [...asList(body.tools), ...added] };
  },
  calls: (answer) =>
    asList(message(answer).tool_calls).map((call) => {
      const { name, arguments: given } = asObject(call.function);
      return { id: String(call.id), name: String(name), arguments: typeof given === 'string' ? given : '{}' };
    }),
  next(body, answer, ours) {
    const said = message(answer);
    return {
      ...body,
      messages: [
        ...asList(body.messages),
        { role: 'assistant', content: said.content ?? null, tool_calls: said.tool_calls },
        ...ours.map(({ call, output }) => ({ role: 'tool', tool_call_id: call.id, content: output })),
      ],
    };
  },
  answered: (body) => {
    const turns = asList(body.messages);
    return turns
      .flatMap(({ tool_calls }) => asList(tool_calls).filter(isWaiting))
      .map((call): Answered => {
        const { name, arguments: given } = asObject(call.function);
        const at = turns.findIndex(({ role, tool_call_id }) => role === 'tool' && tool_call_id === call.id);
        return {
          id: String(call.id),
          label: null,
          name: String(name),
          arguments: String(given ?? '{}'),
          approve: verdictIn(turns[at]?.content),
          settled: turns.slice(at).some(({ role }) => role === 'assistant'),
        };
      });
  },
  resolved(body, outcomes) {
    const messages = asList(body.messages).map((turn) => {
      const answered = turn.role === 'tool' ? outcomes.get(String(turn.tool_call_id)) : undefined;
      if (answered) return { ...turn, tool_call_id: answered.call.id, content: answered.output };
      if (!asList(turn.tool_calls).some(isWaiting)) return turn;
      const tool_calls = asList(turn.tool_calls).map((call) => ({
        ...call,
        id: outcomes.get(String(call.id))?.call.id ?? call.id,
      }));
      return { ...turn, tool_calls };
    });
    return { ...body, messages };
  },
  final(answer, { executed, ours, usage, limited, approvals, isStrict }) {
    const [choice, ...others] = asList(answer.choices);
    const said = message(answer);
    const theirs = [
      ...asList(said.tool_calls).filter((call) => !ours.has(String(asObject(call.function).name))),
      ...approvals.map(({ id, name, arguments: given }) => ({
        id,
        type: 'function',
        function: { name, arguments: given },
      })),
    ];
    const { tool_calls: _calls, ...plain } = said;
    const shown = {
      ...plain,
      ...(theirs.length > 0 && { tool_calls: theirs }),
      ...(executed.length > 0 &&
        !isStrict && {
          gw_mcp: executed.map(({ id, label, tool, arguments: given, output, error }) => ({
            id,
            server: label,
            tool,
            arguments: given,
            output,
            is_error: error !== null,
          })),
        }),
      ...(limited && !isStrict && { gw_mcp_limited: true }),
    };
    return { ...answer, choices: [{ ...choice, message: shown }, ...others], usage };
  },
  live: (body) => new LiveChat(body),
  streaming: (body) => ({
    ...body,
    stream: true,
    stream_options: { ...asObject(body.stream_options), include_usage: true },
  }),
};
