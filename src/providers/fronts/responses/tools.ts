/** The tools of a responses request: the client's own apart from those that the provider runs, and which of them may or must be used. */
import type { Conversation, Tool, ToolChoice } from '../../chat/conversation.ts';
import { RequestFault } from '../../faults.ts';
import { Fields } from '../../fields.ts';
import { customTool } from '../custom-tools.ts';
import { shortName } from '../tool-names.ts';

type Tools = Pick<Conversation, 'tools' | 'hostedTools' | 'toolChoice'>;

const ownFields = new Set(['type', 'name', 'description', 'parameters', 'strict', 'cache_control']);

export function toolsOf(body: Fields): Tools {
  const listed = body.objects('tools') ?? [];
  const tools = listed.flatMap((tool) => {
    const type = tool.needText('type');
    return type === 'function' ? [functionTool(tool)] : type === 'custom' ? [shortened(customTool(tool))] : [];
  });
  const hostedTools = listed.filter(({ json }) => json.type !== 'function' && json.type !== 'custom');
  const { choice, allowed } = choiceOf(body);
  return {
    tools: allowed ? tools.filter(({ name }) => allowed.has(name)) : tools,
    hostedTools: hostedTools.map(({ json }) => json),
    toolChoice: choice,
  };
}

const shortened = (tool: Tool): Tool => ({ ...tool, name: shortName(tool.name) });

const functionTool = (tool: Fields): Tool => ({
  name: shortName(tool.needText('name')),
  description: tool.text('description'),
  parameters: tool.raw('parameters'),
  strict: tool.flag('strict'),
  cache: tool.raw('cache_control'),
  extras: tool.others(ownFields),
});

/** `allowed` are the only tools that may be used; null where all may. */
function choiceOf(body: Fields): { choice: ToolChoice | null; allowed: ReadonlySet<string> | null } {
  const given = body.json.tool_choice;
  if (given === undefined || given === null) return { choice: null, allowed: null };
  if (typeof given === 'string') return { choice: modeOf(given, 'tool_choice'), allowed: null };
  const named = Fields.of(given, 'tool_choice');
  const type = named.needText('type');
  if (type === 'function' || type === 'custom') {
    return { choice: { mode: 'tool', name: shortName(named.needText('name')) }, allowed: null };
  }
  if (type !== 'allowed_tools') {
    throw new RequestFault('tool_choice.type', `tool_choice.type "${type}" names a tool that this provider cannot run`);
  }
  const allowed = named.needObjects('tools').map((tool) => shortName(tool.needText('name')));
  return { choice: modeOf(named.needText('mode'), 'tool_choice.mode'), allowed: new Set(allowed) };
}

function modeOf(mode: string, path: string): ToolChoice {
  if (mode === 'auto' || mode === 'none' || mode === 'required') return { mode };
  throw new RequestFault(path, `${path} "${mode}" must be auto, none or required`);
}
