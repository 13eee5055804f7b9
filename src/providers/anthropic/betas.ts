/** The betas that a call needs: those that were asked for, and those that its contents imply. */
import { isObject, listOf, objectOf, objectsOf, textOf, wordOf } from '../json.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import type { AnthropicSurface } from './surface.ts';

/** In the order in which they were named, each once, as the surface calls them. */
export function betasOf(facts: CallFacts, { betaName }: AnthropicSurface): string[] {
  const asked = [facts.clientHeader('anthropic-beta'), facts.fields.anthropic_beta, facts.body.anthropic_beta];
  const betas = [...asked.flatMap(listed), ...impliedBetas(facts)];
  const named = betaName ? betas.map(betaName) : betas;
  return [...new Set(named.filter((beta) => beta !== null))];
}

/** The header that names the betas; empty where there are none, or where they travel in the body. */
export function betaHeader(facts: CallFacts, surface: AnthropicSurface): Record<string, string> {
  const betas = surface.betas === 'header' ? betasOf(facts, surface) : [];
  return betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {};
}

const listed = (betas: unknown): string[] =>
  (Array.isArray(betas) ? betas : [betas])
    .flatMap((entry) => (typeof entry === 'string' ? entry.split(',') : []))
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '');

const filesBeta = 'files-api-2025-04-14';

/** A client of the native route names its betas itself; whoever speaks another dialect knows nothing of them. */
function impliedBetas({ kind, body }: CallFacts): string[] {
  if (kind === 'messages' || kind === 'messagesCountTokens' || kind === 'proxy') return [];
  if (kind.endsWith('File') || kind.endsWith('Files') || kind === 'retrieveFileContent') return [filesBeta];
  const rows = objectsOf(body.requests).map((row) => objectOf(row.body ?? row.params));
  return [body, ...rows].flatMap(contentBetas);
}

function contentBetas(body: Readonly<JsonObject>): string[] {
  const tools = objectsOf(body.tools);
  return [
    ...tools.flatMap(toolBetas),
    ...(body.mcp_servers !== undefined ? ['mcp-client-2025-11-20'] : []),
    ...contextBetas(objectOf(body.context_management)),
    ...(objectOf(body.container).skills !== undefined ? ['skills-2025-10-02'] : []),
    ...(body.speed === 'fast' || body.service_tier === 'fast' ? ['fast-mode-2026-02-01'] : []),
    ...(objectOf(body.output_config).task_budget !== undefined ? ['task-budgets-2026-03-13'] : []),
    ...(namesFile(body.messages) || namesFile(body.input) ? [filesBeta] : []),
  ];
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

function toolBetas(tool: JsonObject): string[] {
  const inner = objectOf(tool.function ?? tool[wordOf(tool.type)]);
  const type = textOf(inner.name) !== null && tool.function === undefined ? inner.name : tool.type;
  const beta = betaByType.find(([beginning]) => wordOf(type).startsWith(beginning))?.[1];
  const advanced = advancedFields.some((field) => field in tool || field in inner);
  return [...(beta ? [beta] : []), ...(advanced ? ['advanced-tool-use-2025-11-20'] : [])];
}

function contextBetas({ edits }: JsonObject): string[] {
  const types = objectsOf(edits).map(({ type }) => wordOf(type));
  const compacts = types.some((type) => type.startsWith('compact_'));
  const clears = types.some((type) => type.startsWith('clear_'));
  return [...(clears ? ['context-management-2025-06-27'] : []), ...(compacts ? ['compact-2026-01-12'] : [])];
}

/** Whether a message shows a file that was uploaded before. */
const namesFile = (messages: unknown): boolean =>
  listOf(messages).some((message) =>
    [message, ...listOf(objectOf(message).content)].some(
      (part) => isObject(part) && (part.file_id !== undefined || objectOf(part.file).file_id !== undefined),
    ),
  );
