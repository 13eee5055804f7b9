/** A choice of tools that names one of ours is told to the model under the name that it knows. */
import { asObject, type Json, type OfferedTool, referenceIn } from './tool-calls.ts';
import type { ResolvedServer } from './tools.ts';

/** A tool that must be called is called in the first round; from then on the model may answer. */
export function withChoice(
  body: Json,
  servers: readonly ResolvedServer[],
  usable: readonly OfferedTool[],
  round: number,
): Json {
  const choice = body.tool_choice;
  if (choice === undefined) return body;
  const isOpen = openChoices.has(typeof choice === 'string' ? choice : String(asObject(choice).type));
  const hasTools = usable.length > 0 || (Array.isArray(body.tools) && body.tools.length > 0);
  if (!hasTools || (round > 0 && !isOpen)) {
    const { tool_choice: _choice, ...rest } = body;
    return rest;
  }
  if (isOpen || typeof choice === 'string') return body;
  const named = asObject(choice);
  const inner = asObject(named.function);
  const tool = chosen(servers, usable, named, inner);
  if (tool === null) return body;
  if (named.type === 'tool') return { ...body, tool_choice: { ...named, name: tool.name } };
  if (Object.keys(inner).length > 0) {
    return { ...body, tool_choice: { ...named, function: { ...inner, name: tool.name } } };
  }
  return { ...body, tool_choice: { type: 'function', name: tool.name } };
}

/** These let the model answer without calling anything. */
const openChoices: ReadonlySet<string> = new Set(['auto', 'none']);

/** `@gw-mcp/slug/tool`, a server with a tool's name beside it, or the plain name of a tool that only one server has. */
function chosen(
  servers: readonly ResolvedServer[],
  usable: readonly OfferedTool[],
  named: Json,
  inner: Json,
): OfferedTool | null {
  const name = String(inner.name ?? named.name ?? '');
  const reference = referenceIn(name) ?? referenceIn(named.server_label);
  const wanted = referenceIn(name)?.tool ?? name;
  if (reference) {
    const server = servers.find((one) => one.reference.slug === reference.slug)?.reference;
    return usable.find((tool) => tool.server === server && tool.tool === wanted) ?? null;
  }
  const alike = usable.filter((tool) => tool.tool === wanted);
  return alike.length === 1 ? (alike[0] ?? null) : null;
}
