/** The tools of a messages request: the client's own apart from those that the provider defines, and which of them must be used. */
import type { Conversation, Tool, ToolChoice } from '../../chat/conversation.ts';
import { RequestFault } from '../../faults.ts';
import type { Fields } from '../../fields.ts';
import { shortName } from '../tool-names.ts';

const ownFields = new Set(['type', 'name', 'description', 'input_schema', 'strict', 'cache_control']);

export function toolsOf(body: Fields): Pick<Conversation, 'tools' | 'hostedTools'> {
  refuseServers(body);
  const listed = body.objects('tools') ?? [];
  const isOwn = (tool: Fields): boolean => (tool.text('type') ?? 'custom') === 'custom';
  return {
    tools: listed.filter(isOwn).map(toolOf),
    hostedTools: listed.filter((tool) => !isOwn(tool)).map(({ json }) => json),
  };
}

/** Without them the model would miss the tools that it was promised. */
function refuseServers(body: Fields): void {
  const servers = body.list('mcp_servers') ?? [];
  if (servers.length === 0) return;
  throw new RequestFault('mcp_servers', 'mcp_servers: this provider does not connect to MCP servers by itself');
}

const toolOf = (tool: Fields): Tool => ({
  name: shortName(tool.needText('name')),
  description: tool.text('description'),
  parameters: tool.raw('input_schema'),
  strict: tool.flag('strict'),
  cache: tool.raw('cache_control'),
  extras: tool.others(ownFields),
});

export function toolChoiceOf(body: Fields): Pick<Conversation, 'toolChoice' | 'parallelToolCalls'> {
  const choice = body.object('tool_choice');
  if (!choice) return { toolChoice: null, parallelToolCalls: null };
  return {
    toolChoice: modeOf(choice),
    parallelToolCalls: choice.flag('disable_parallel_tool_use') ? false : null,
  };
}

function modeOf(choice: Fields): ToolChoice {
  const type = choice.needText('type');
  switch (type) {
    case 'auto':
    case 'none':
      return { mode: type };
    case 'any':
      return { mode: 'required' };
    case 'tool':
      return { mode: 'tool', name: shortName(choice.needText('name')) };
    default:
      throw new RequestFault(choice.at('type'), `${choice.at('type')} "${type}" must be auto, any, tool or none`);
  }
}
