/** Tools: the client's functions, those that the provider runs itself, and the one that stands in for structured output. */
import { answerTool } from '../chat/answer-tool.ts';
import type { Conversation, OutputFormat, Tool } from '../chat/conversation.ts';
import { calledTools } from '../chat/turns.ts';
import { RequestFault } from '../faults.ts';
import { isObject, objectOf, present, textOf, wordOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';
import { cleaned } from './schema.ts';

export interface ToolOptions {
  /** Arguments can be held to their schema. */
  strict: boolean;
  /** The form of the answer, where a tool must stand in for it. */
  answer: Extract<OutputFormat, { type: 'schema' }> | null;
  /** A model that thinks may not be made to call a tool. */
  thinks: boolean;
}

export function writeTools(conversation: Conversation, options: ToolOptions): JsonObject {
  const asked = askedTools(conversation, options.strict);
  if (options.answer) return withAnswerTool(conversation, asked, options);
  if (asked.length > 0) return present({ tools: asked, tool_choice: choiceOf(conversation) });
  const called = calledTools(conversation);
  return called.size > 0 ? { tools: rememberedTools(called), tool_choice: { type: 'none' } } : {};
}

function askedTools({ tools, hostedTools, extras }: Conversation, strict: boolean): JsonObject[] {
  const asked = tools.map((tool) => toolOf(tool, strict));
  for (const tool of hostedTools) asked.push(hostedTool(tool));
  if (isObject(extras.web_search_options)) asked.push(webSearch(extras.web_search_options));
  return asked;
}

/** Fields of a tool that this provider knows and others do not. */
const extraFields = ['defer_loading', 'allowed_callers', 'input_examples', 'eager_input_streaming'];

function toolOf({ name, description, parameters, strict, cache, extras }: Tool, canBeStrict: boolean): JsonObject {
  const held = canBeStrict && strict === true;
  const schema = parameters && held ? cleaned(parameters) : parameters;
  return present({
    name,
    description,
    input_schema: { properties: {}, ...schema, type: 'object' },
    strict: held ? true : null,
    cache_control: cache,
    ...Object.fromEntries(extraFields.map((field) => [field, extras[field]])),
  });
}

const ownTypes =
  /^(web_search_\d|web_fetch_\d|code_execution_\d|bash_\d|text_editor_\d|computer_\d|computer_toolset_|browser_toolset_|memory_\d|tool_search_tool_|mcp_toolset|advisor_\d)/;

/** As the client wrote it; `{type: X, X: {name: <versioned type>, ...}}` is unfolded. */
function hostedTool(tool: Readonly<JsonObject>): JsonObject {
  const type = wordOf(tool.type);
  if (ownTypes.test(type)) return { ...tool };
  const inner = tool[type];
  if (isObject(inner) && ownTypes.test(wordOf(inner.name))) return { ...inner, type: inner.name, name: type };
  if (type.startsWith('web_search')) return webSearch(tool);
  throw new RequestFault(
    'tools',
    `the tool "${type}" is run by the provider that defines it; Anthropic has no such tool`,
  );
}

const usesByContext: ReadonlyMap<string, number> = new Map(Object.entries({ low: 1, medium: 5, high: 10 }));

/** OpenAI's way to ask for a search says how much to read, and where the user is. */
function webSearch(options: Readonly<JsonObject>): JsonObject {
  const place = objectOf(options.user_location);
  const { allowed_domains, ...others } = objectOf(options.filters);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new RequestFault('tools', `Anthropic cannot keep to ${unknown} when it searches`);
  const known = isObject(place.approximate) ? { type: 'approximate', ...place.approximate } : place;
  return present({
    type: 'web_search_20250305',
    name: 'web_search',
    max_uses: usesByContext.get(textOf(options.search_context_size) ?? ''),
    allowed_domains,
    user_location: Object.keys(known).length > 0 ? present({ type: 'approximate', ...known }) : null,
  });
}

function choiceOf({ toolChoice, parallelToolCalls }: Conversation): JsonObject | null {
  const choice = !toolChoice ? null : toolChoice.mode === 'tool' ? named(toolChoice.name) : modes[toolChoice.mode];
  if (parallelToolCalls !== false || choice?.type === 'none') return choice ?? null;
  return { ...(choice ?? modes.auto), disable_parallel_tool_use: true };
}

const modes = { auto: { type: 'auto' }, none: { type: 'none' }, required: { type: 'any' } } as const;
const named = (name: string): { type: string; name: string } => ({ type: 'tool', name });

/** Beside the client's own tools the model may call one of them first; alone, it must answer. */
function withAnswerTool(conversation: Conversation, asked: readonly JsonObject[], options: ToolOptions): JsonObject {
  const { answer, thinks } = options;
  const answering = {
    name: answerTool,
    description: answer?.description ?? 'Give the final answer by calling this tool.',
    input_schema: { properties: {}, ...answer?.schema, type: 'object' },
  };
  const chosen = conversation.toolChoice?.mode === 'tool' ? choiceOf(conversation) : null;
  const free = asked.length > 0 && conversation.toolChoice?.mode !== 'none';
  const forced = free ? modes.required : named(answerTool);
  return {
    tools: [...asked, answering],
    tool_choice: chosen ?? { ...(thinks ? modes.auto : forced), disable_parallel_tool_use: true },
  };
}

/** A history with tool calls is refused without tools; these may only be remembered, not called. */
const rememberedTools = (called: ReadonlyMap<string, string>): JsonObject[] =>
  [...new Set(called.values())].map((name) => ({
    name,
    input_schema: { type: 'object', properties: {} },
  }));
