/** The tools of a chat request: functions apart from what the provider runs itself, and which of them must be used. */
import type { Tool, ToolChoice } from '../../chat/conversation.ts';
import { RequestFault } from '../../faults.ts';
import { Fields } from '../../fields.ts';
import type { JsonObject } from '../../provider.ts';

interface Tools {
  tools: readonly Tool[];
  hosted: readonly Readonly<JsonObject>[];
}

const ownFields = new Set(['name', 'description', 'parameters', 'strict', 'cache_control']);
const outerFields = new Set(['type', 'function', 'cache_control']);

export function toolsOf(body: Fields): Tools {
  const legacy = (body.objects('functions') ?? []).map((spec) => functionTool(spec, spec));
  const listed = body.objects('tools') ?? [];
  const tools = listed.filter((tool) => tool.json.type === 'function' || tool.has('function'));
  return {
    tools: [...tools.map((tool) => functionTool(tool.needObject('function'), tool)), ...legacy, ...customTools(listed)],
    hosted: listed.filter((tool) => !tools.includes(tool) && tool.json.type !== 'custom').map(({ json }) => json),
  };
}

const functionTool = (spec: Fields, outer: Fields): Tool => ({
  name: spec.needText('name'),
  description: spec.text('description'),
  parameters: spec.raw('parameters'),
  strict: spec.flag('strict'),
  cache: outer.raw('cache_control') ?? spec.raw('cache_control'),
  extras: { ...(outer === spec ? {} : outer.others(outerFields)), ...spec.others(ownFields) },
});

/** A tool that takes free text is one with a single string, where a family knows only schemas. */
const customTools = (listed: readonly Fields[]): Tool[] =>
  listed
    .filter((tool) => tool.json.type === 'custom')
    .map((tool) => {
      const spec = tool.object('custom') ?? tool;
      return {
        name: spec.needText('name'),
        description: spec.text('description'),
        parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
        strict: null,
        cache: tool.raw('cache_control'),
        extras: {},
      };
    });

export function toolChoiceOf(body: Fields): ToolChoice | null {
  const field = body.has('tool_choice') ? 'tool_choice' : 'function_call';
  const choice = body.json[field];
  if (choice === undefined || choice === null) return null;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { mode: choice };
  if (choice === 'any') return { mode: 'required' };
  if (typeof choice === 'string') {
    throw new RequestFault(body.at(field), `${body.at(field)} must be auto, none, required, or name a function`);
  }
  const named = Fields.of(choice, body.at(field));
  return { mode: 'tool', name: (named.object('function') ?? named.object('custom') ?? named).needText('name') };
}
