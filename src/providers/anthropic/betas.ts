/** The betas that a call needs: those that were asked for, and those that its contents imply. */
import { isObject, listOf, objectOf, objectsOf, textOf, wordOf } from '../json.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import type { AnthropicSurface } from './surface.ts';

/** In the order in which they were named, each once, as the surface calls them. */
export function betasOf(facts: CallFacts, { betaName }: AnthropicSurface): string[] {
  const betas: string[] = [];
  addListed(betas, facts.clientHeader('anthropic-beta'));
  addListed(betas, facts.fields.anthropic_beta);
  addListed(betas, facts.body.anthropic_beta);
  addImplied(betas, facts);
  if (betas.length === 0) return betas;
  const named = betaName ? betas.map(betaName) : betas;
  return [...new Set(named.filter((beta) => beta !== null))];
}

/** The header that names the betas; empty where there are none, or where they travel in the body. */
export function betaHeader(facts: CallFacts, surface: AnthropicSurface): Record<string, string> {
  const betas = surface.betas === 'header' ? betasOf(facts, surface) : [];
  return betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {};
}

function addListed(betas: string[], listed: unknown): void {
  if (Array.isArray(listed)) for (const entry of listed) addNamed(betas, entry);
  else addNamed(betas, listed);
}

function addNamed(betas: string[], names: unknown): void {
  if (typeof names !== 'string') return;
  for (const name of names.split(',')) if (name.trim() !== '') betas.push(name.trim());
}

const filesBeta = 'files-api-2025-04-14';

/** A client of the native route names its betas itself; whoever speaks another dialect knows nothing of them. */
function addImplied(betas: string[], { kind, body }: CallFacts): void {
  if (kind === 'messages' || kind === 'messagesCountTokens' || kind === 'proxy') return;
  if (kind.endsWith('File') || kind.endsWith('Files') || kind === 'retrieveFileContent') {
    betas.push(filesBeta);
    return;
  }
  addForContent(betas, body);
  for (const row of listOf(body.requests)) if (isObject(row)) addForContent(betas, objectOf(row.body ?? row.params));
}

function addForContent(betas: string[], body: Readonly<JsonObject>): void {
  for (const tool of listOf(body.tools)) if (isObject(tool)) addForTool(betas, tool);
  if (body.mcp_servers !== undefined) betas.push('mcp-client-2025-11-20');
  if (isObject(body.context_management)) addForContext(betas, body.context_management);
  if (isObject(body.container) && body.container.skills !== undefined) betas.push('skills-2025-10-02');
  if (body.speed === 'fast' || body.service_tier === 'fast') betas.push('fast-mode-2026-02-01');
  if (isObject(body.output_config) && body.output_config.task_budget !== undefined)
    betas.push('task-budgets-2026-03-13');
  if (namesFile(body.messages) || namesFile(body.input)) betas.push(filesBeta);
}

/** By the beginning of the tool's type; the first that fits counts. A tool that is generally available has none. */
const betaByType: readonly (readonly [type: string, beta: string])[] = [
  ['web_fetch_20250910', 'web-fetch-2025-09-10'],
  ['code_execution_20250522', 'code-execution-2025-05-22'],
  ['code_execution_20250825', 'code-execution-2025-08-25'],
  ['computer_20241022', 'computer-use-2024-10-22'],
  ['bash_20241022', 'computer-use-2024-10-22'],
  ['text_editor_20241022', 'computer-use-2024-10-22'],
  ['computer_20250124', 'computer-use-2025-01-24'],
  ['computer_20251124', 'computer-use-2025-11-24'],
  ['memory_', 'context-management-2025-06-27'],
  ['tool_search_tool_', 'advanced-tool-use-2025-11-20'],
  ['mcp_toolset', 'mcp-client-2025-11-20'],
  ['advisor_20260301', 'advisor-tool-2026-03-01'],
];

const advancedFields = ['defer_loading', 'allowed_callers', 'input_examples'];

function addForTool(betas: string[], tool: JsonObject): void {
  const inner = objectOf(tool.function ?? tool[wordOf(tool.type)]);
  const type = textOf(inner.name) !== null && tool.function === undefined ? inner.name : tool.type;
  const beta = betaByType.find(([beginning]) => wordOf(type).startsWith(beginning))?.[1];
  if (beta) betas.push(beta);
  if (advancedFields.some((field) => field in tool || field in inner)) betas.push('advanced-tool-use-2025-11-20');
}

function addForContext(betas: string[], { edits }: JsonObject): void {
  const types = objectsOf(edits).map(({ type }) => wordOf(type));
  if (types.some((type) => type.startsWith('clear_'))) betas.push('context-management-2025-06-27');
  if (types.some((type) => type.startsWith('compact_'))) betas.push('compact-2026-01-12');
}

/** Whether a message shows a file that was uploaded before. */
const namesFile = (messages: unknown): boolean =>
  listOf(messages).some((message) => isFile(message) || (isObject(message) && listOf(message.content).some(isFile)));

const isFile = (part: unknown): boolean =>
  isObject(part) && (part.file_id !== undefined || (isObject(part.file) && part.file.file_id !== undefined));
