/** The tools of our servers as a model sees them, and their execution for it. */

import { createHash } from 'node:crypto';
import { readJson } from '../../bounded-json.ts';
import { type CallContext, followedAs } from '../call-context.ts';
import { type Called, failed, type Way } from '../called.ts';
import { call, usableTools } from '../calls.ts';
import type { McpDeps } from '../deps.ts';
import { McpError } from '../errors.ts';
import { UpstreamRefusal } from '../lists.ts';
import { logMessage } from '../log.ts';
import { ourselves } from '../probe.ts';
import { isFields, type RpcRequest } from '../protocol/json-rpc.ts';
import { SessionLost } from '../upstream/link.ts';
import type { Executed, ModelCall, OfferedTool, ServerReference } from './tool-calls.ts';

const mostTools = 128;
const longestName = 64;
const longestOutput = 256 * 1024;

export interface ResolvedServer {
  reference: ServerReference;
  context: CallContext;
}

const wayTo = (deps: McpDeps, context: CallContext): Way => {
  const wanted = { upstream: context.server, identity: context.identity, client: ourselves, era: 'session' as const };
  return {
    link(lost) {
      if (lost) deps.pool.lost(wanted);
      return deps.pool.get(wanted);
    },
    askClient: null,
  };
};

/** Every tool that the request may use, under a name that no other has. */
export async function offeredTools(deps: McpDeps, servers: readonly ResolvedServer[]): Promise<OfferedTool[]> {
  const taken = new Set<string>();
  const offered: OfferedTool[] = [];
  for (const { reference, context } of servers) {
    const tools = await usableTools(deps, context, wayTo(deps, context)).catch((fault) => {
      throw named(reference, fault);
    });
    for (const definition of tools) {
      const tool = String(definition.name);
      if (!reference.wants(tool)) continue;
      const name = nameFor(reference.slug, tool, taken);
      taken.add(name);
      offered.push({
        name,
        server: reference,
        tool,
        description: String(definition.description ?? ''),
        schema: isFields(definition.inputSchema) ? definition.inputSchema : { type: 'object', properties: {} },
      });
    }
  }
  if (offered.length > mostTools) {
    throw new McpError(
      'invalid_request',
      `the MCP servers offer ${offered.length} tools; at most ${mostTools} can be used at once, so name allowed_tools`,
    );
  }
  return offered;
}

const named = ({ label }: ServerReference, fault: unknown): unknown =>
  fault instanceof McpError
    ? new McpError(fault.kind, `${label}: ${fault.message}`, { ...(fault.data && { data: fault.data }) })
    : fault;

/** `<slug>__<tool>` in what every provider takes; a digest where that is too long or taken. */
export function nameFor(slug: string, tool: string, taken: ReadonlySet<string> = new Set()): string {
  const plain = `${slug}__${tool}`.replace(/[^a-zA-Z0-9_-]/g, '_');
  if (plain.length <= longestName && !taken.has(plain)) return plain;
  const tail = createHash('sha256').update(`${slug} ${tool}`).digest('hex').slice(0, 8);
  return `${plain.slice(0, longestName - 9)}_${tail}`;
}

/** The name of a tool in turns that have been. */
export const replayedName = (label: string, tool: string): string => nameFor(label.replace(/^@gw-mcp\//, ''), tool);

/** A tool's failure is an answer to the model, never one of the request. */
export async function execute(
  deps: McpDeps,
  { context }: ResolvedServer,
  { server, tool }: OfferedTool,
  modelCall: ModelCall,
): Promise<Executed> {
  const request: RpcRequest = {
    kind: 'request',
    id: `gw-${Bun.randomUUIDv7()}`,
    method: 'tools/call',
    params: { name: tool, arguments: parsed(modelCall.arguments) },
  };
  const requestId = Bun.randomUUIDv7();
  const startedAt = performance.now();
  const own = followedAs(context, {
    requestId,
    spanId: requestId,
    parentSpanId: context.identified.spanId,
    receivedAt: deps.clock.now().getTime(),
    startedAt,
  });
  const base = { id: `mcp_${modelCall.id}`, label: server.label, tool, arguments: modelCall.arguments };
  const log = (text: string, status: number, error: unknown, isFailure: boolean, called: Called | null) =>
    logMessage(deps, own, {
      message: request,
      requestText: JSON.stringify(request.params),
      responseText: text,
      status,
      failed: isFailure,
      error,
      tokenRefreshed: called?.tokenRefreshed ?? false,
      upstreamMs: performance.now() - startedAt,
      guard: called?.guard ?? null,
    });
  try {
    const called = await call(deps, own, request, wayTo(deps, own));
    const { result, error } = called.response ?? {};
    const output = cut(error ? error.message : outputOf(result ?? {}));
    const isFailure = error !== undefined || result?.isError === true;
    log(output, 200, null, isFailure, called);
    return { ...base, output, error: isFailure ? output : null };
  } catch (fault) {
    if (fault instanceof SessionLost) throw fault;
    const error = failed(fault, (one) => deps.onFault(one, requestId));
    log(error.message, error instanceof UpstreamRefusal ? 200 : error.status, error, true, null);
    return { ...base, output: error.message, error: error.message };
  }
}

/** What the model reads of a result: its texts, or the structure where there is no text. */
function outputOf(result: Readonly<Record<string, unknown>>): string {
  const content = Array.isArray(result.content) ? result.content.filter(isFields) : [];
  const texts = content.map((item) =>
    item.type === 'text' && typeof item.text === 'string' ? item.text : JSON.stringify(item),
  );
  if (texts.length > 0) return texts.join('\n');
  return JSON.stringify(result.structuredContent ?? result);
}

const cut = (text: string): string =>
  text.length <= longestOutput ? text : `${text.slice(0, longestOutput)}\n[cut at ${longestOutput} characters]`;

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = readJson(text === '' ? '{}' : text);
    return isFields(value) ? { ...value } : {};
  } catch {
    // The upstream says what is wrong with arguments that are none.
    return {};
  }
}
