/** The tools of a chat request: functions apart from what the provider runs itself, and which of them must be used. */
import type { Tool, ToolChoice } from '../../chat/conversation.ts';
import { RequestFault } from '../../faults.ts';
import { Fields } from '../../fields.ts';
import type { JsonObject } from '../../provider.ts';
import { customTool } from '../custom-tools.ts';

interface Tools {
  tools: readonly Tool[];
  hosted: readonly Readonly<JsonObject>[];
}

const ownFields = new Set(['name', 'description', 'parameters', 'strict', 'cache_control']);
const outerFields = new Set(['type', 'function', 'cache_control']);

export function toolsOf(body: Fields): Tools {
  const legacy = (body.objects('functions') ?? []).map((spec) => functionTool(spec, spec));
  const listed = body.objects('tools') ?? [];
  const isFunction = (tool: Fields): boolean => tool.json.type === 'function' || tool.has('function');
  const own = listed.flatMap((tool) => {
    if (isFunction(tool)) return [functionTool(tool.needObject('function'), tool)];
    return tool.json.type === 'custom' ? [customTool(tool)] : [];
  });
  const allowed = allowedNames(body);
  const tools = [...own, ...legacy];
  return {
    tools: allowed ? tools.filter(({ name }) => allowed.has(name)) : tools,
    hosted: listed.filter((tool) => !isFunction(tool) && tool.json.type !== 'custom').map(({ json }) => json),
  };
}

const nameIn = (named: Fields): string =>
  (named.object('function') ?? named.object('custom') ?? named).needText('name');

/** The choice may leave only some of the tools; null where all may be used. */
function allowedNames(body: Fields): ReadonlySet<string> | null {
  const allowed = allowedOf(body);
  return allowed && new Set(allowed.needObjects('tools').map(nameIn));
}

function allowedOf(body: Fields): Fields | null {
  const choice = body.json.tool_choice;
  if (typeof choice !== 'object' || choice === null) return null;
  const given = Fields.of(choice, body.at('tool_choice'));
  return given.json.type === 'allowed_tools' ? (given.object('allowed_tools') ?? given) : null;
}

const functionTool = (spec: Fields, outer: Fields): Tool => ({
  name: spec.needText('name'),
  description: spec.text('description'),
  parameters: spec.raw('parameters'),
  strict: spec.flag('strict'),
  cache: outer.raw('cache_control') ?? spec.raw('cache_control'),
  extras: { ...(outer === spec ? {} : outer.others(outerFields)), ...spec.others(ownFields) },
});

export function toolChoiceOf(body: Fields): ToolChoice | null {
  const field = body.has('tool_choice') ? 'tool_choice' : 'function_call';
  const choice = body.json[field];
  if (choice === undefined || choice === null) return null;
  const allowed = allowedOf(body);
  if (allowed) return modeOf(allowed.needText('mode'), allowed.at('mode'));
  if (typeof choice === 'string') return modeOf(choice, body.at(field));
  return { mode: 'tool', name: nameIn(Fields.of(choice, body.at(field))) };
}

function modeOf(mode: string, path: string): ToolChoice {
  if (mode === 'auto' || mode === 'none' || mode === 'required') return { mode };
  if (mode === 'any') return { mode: 'required' };
  throw new RequestFault(path, `${path} must be auto, none, required, or name a function`);
}
