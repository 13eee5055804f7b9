/** The tools of a Converse request: those of the client, stand-ins for those that only the history names, and the one that holds a structured answer. */
import { answerInstruction, answerTool } from '../chat/answer-tool.ts';
import type { Conversation, OutputFormat, Tool, ToolChoice } from '../chat/conversation.ts';
import { calledTools } from '../chat/turns.ts';
import { RequestFault } from '../faults.ts';
import { isObject, present, wordOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';
import { cachePoint } from './blocks.ts';
import type { BedrockModel } from './model.ts';

export interface Tools {
  toolConfig: JsonObject | null;
  /** For `additionalModelRequestFields`. */
  fields: JsonObject;
  /** What the model must be told, where it cannot be forced. */
  instruction: string | null;
}

export function toolsOf(conversation: Conversation, model: BedrockModel, thinks: boolean): Tools {
  const { toolChoice, tools } = conversation;
  const form = formByTool(conversation, model);
  const answer = form && answerSpec(form);
  const usable = toolChoice?.mode === 'none' ? [] : tools;
  const specs = [...tools.flatMap((tool) => toolSpec(tool, model)), ...(answer ? [{ toolSpec: answer }] : [])];
  const listed =
    specs.length > 0 && (usable.length > 0 || answer || hasCalls(conversation)) ? specs : stubs(conversation);
  const hosted = hostedTools(conversation, model);
  const all = [...listed, ...hosted.listed];
  const choice = answer ? answerChoice(usable.length > 0, model, thinks) : chosen(toolChoice);
  const parallel = singleCalls(conversation, choice, model, usable.length > 0);
  return {
    toolConfig: all.length > 0 ? { tools: all, ...(choice && !parallel && { toolChoice: choice }) } : null,
    fields: present({ tools: hosted.fields.length > 0 ? hosted.fields : null, tool_choice: parallel }),
    instruction: answer && (!choice || 'auto' in choice) ? answerInstruction : null,
  };
}

type Form = Extract<OutputFormat, { type: 'schema' }>;

/** The form that a tool must stand in for; null where none is asked for, or the model keeps to it by itself. */
export const formByTool = ({ format }: Conversation, { structured }: BedrockModel): Form | null =>
  format.type === 'schema' && !structured ? format : null;

function toolSpec(tool: Tool, model: BedrockModel): JsonObject[] {
  const spec = present({
    name: tool.name,
    description: tool.description?.trim() ? tool.description : null,
    inputSchema: { json: schemaOf(tool.parameters) },
    strict: tool.strict && model.structured ? true : null,
  });
  return [{ toolSpec: spec }, ...(model.caches === 'all' ? cachePoint(tool.cache, model) : [])];
}

/** Every tool takes an object. */
const schemaOf = (parameters: Readonly<JsonObject> | null): JsonObject => ({
  ...parameters,
  type: 'object',
  ...(!isObject(parameters?.properties) && { properties: {} }),
});

const answerSpec = ({ description, schema }: Form): JsonObject => ({
  name: answerTool,
  description: description?.trim() || 'Takes the answer in the form that was asked for.',
  inputSchema: { json: schemaOf(schema) },
});

const chosen = (choice: ToolChoice | null): JsonObject | null => {
  switch (choice?.mode) {
    case 'auto':
      return { auto: {} };
    case 'required':
      return { any: {} };
    case 'tool':
      return { tool: { name: choice.name } };
    default:
      return null;
  }
};

/** A model that thinks refuses to be forced. */
function answerChoice(besideOthers: boolean, { forces }: BedrockModel, thinks: boolean): JsonObject | null {
  if (thinks || forces === 'none') return { auto: {} };
  return besideOthers || forces === 'any' ? { any: {} } : { tool: { name: answerTool } };
}

/** One call at a time is something that only Claude can be told; it then takes its whole choice in its own words. */
function singleCalls(
  { parallelToolCalls, tellsOneCall }: Conversation,
  choice: JsonObject | null,
  { claude, id }: BedrockModel,
  hasTools: boolean,
): JsonObject | null {
  if (parallelToolCalls !== false || !hasTools) return null;
  if (!claude) {
    if (tellsOneCall) return null;
    throw new RequestFault('parallel_tool_calls', `the model ${id} cannot be kept to one tool call at a time`);
  }
  const name = isObject(choice?.tool) ? choice.tool.name : null;
  const type = name !== null ? 'tool' : choice && 'any' in choice ? 'any' : 'auto';
  return present({ type, name, disable_parallel_tool_use: true });
}

const hasCalls = ({ turns }: Conversation): boolean =>
  turns.some(
    (turn) =>
      turn.role !== 'system' && turn.parts.some((part) => part.type === 'tool-call' || part.type === 'tool-result'),
  );

/** A history with calls is refused without the tools that were called. */
const stubs = (conversation: Conversation): JsonObject[] => {
  if (!hasCalls(conversation)) return [];
  const names = new Set(calledTools(conversation).values());
  return (names.size > 0 ? [...names] : ['unknown']).map((name) => ({
    toolSpec: { name, description: `The tool ${name}.`, inputSchema: { json: schemaOf(null) } },
  }));
};

/** Claude's own kinds of tools that the client runs; the ones that Anthropic runs do not exist here. */
const clientRun = /^(?:computer|bash|text_editor|memory|tool_search_tool)_/;

/** Tools that are no functions: those of the platform are listed as they are, those of Claude go in its own words. */
function hostedTools(
  { hostedTools: hosted }: Conversation,
  { claude }: BedrockModel,
): {
  listed: JsonObject[];
  fields: JsonObject[];
} {
  const listed: JsonObject[] = [];
  const fields: JsonObject[] = [];
  for (const tool of hosted) {
    if (isObject(tool.systemTool)) listed.push({ systemTool: tool.systemTool });
    else if (claude && clientRun.test(wordOf(tool.type))) fields.push({ ...tool });
    else throw new RequestFault('tools', `Bedrock has no tool of the type "${wordOf(tool.type)}" for this model`);
  }
  return { listed, fields };
}
