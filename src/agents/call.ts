/** One request to an agent on its way: who asks which agent for what, and how they are answered. */
import type { AgentServer } from '../catalog/agents/server.ts';
import type { Arrival, Identified, RequestContext, ServiceCall } from '../gateway/context.ts';
import type { ServiceGuard } from '../gateway/guardrails/service-guard.ts';
import type { Admission } from '../gateway/limits/admission.ts';
import { serviceRoute } from '../gateway/request/routes.ts';
import { arrivalHeaders } from '../gateway/response/reply.ts';
import { meteredTokens } from '../mcp/log.ts';
import type { UpstreamIdentity } from '../mcp/principal.ts';
import { noUsage } from '../providers/usage.ts';
import { Abort } from '../wire/abort.ts';
import type { Reply } from '../wire/server/reply.ts';
import type { AgentDeps } from './deps.ts';
import type { AgentError } from './errors.ts';
import type { Operation } from './operations.ts';
import type { Owner } from './owners.ts';
import type { Posted } from './request.ts';
import type { Sighting } from './sightings.ts';

export const agentRoute = serviceRoute('agent', 'agents.invoke');

const longestValue = 128;

export class AgentCall {
  readonly deps: AgentDeps;
  readonly identified: Identified;
  readonly server: AgentServer;
  readonly identity: UpstreamIdentity;
  readonly operation: Operation;
  readonly posted: Posted;
  readonly abort = new Abort();
  readonly context: RequestContext;
  admission: Admission | null = null;
  guard: ServiceGuard | null = null;
  /** The agent was asked. */
  reached = false;
  upstreamMs = 0;
  /** A large answer waits for its client, and counts until it is taken. */
  unsent = false;
  #seen: Sighting = { task: null, context: null, state: null };
  #settled = false;

  constructor(
    deps: AgentDeps,
    identified: Identified,
    known: { server: AgentServer; identity: UpstreamIdentity; operation: Operation; posted: Posted },
  ) {
    this.deps = deps;
    this.identified = identified;
    this.server = known.server;
    this.identity = known.identity;
    this.operation = known.operation;
    this.posted = known.posted;
    const { tasks, newTask, contexts } = known.operation;
    this.#seen = { task: tasks[0] ?? newTask, context: contexts[0] ?? null, state: null };
    this.context = deps.services.begin(
      identified,
      serviceOf(known.server, known.operation.method),
      agentRoute,
      known.posted.bytes,
    );
    deps.services.enter(this.context);
  }

  get owner(): Owner {
    const { caller, workspace } = this.identified;
    return {
      workspaceId: workspace.workspaceId,
      owner: caller.userId === null ? `key:${caller.keyId}` : `user:${caller.userId}`,
    };
  }

  get isMessage(): boolean {
    return this.operation.kind === 'send' || this.operation.kind === 'stream';
  }

  /** What a message is known to take. */
  inputTokens = (): number => (this.isMessage ? meteredTokens(this.posted.text) : 0);

  /** Remembers what the answer tells; new tasks and conversations are the caller's. */
  sees(sightings: readonly Sighting[]): void {
    for (const { task, context, state } of sightings) {
      this.#seen = {
        task: this.#seen.task ?? task,
        context: this.#seen.context ?? context,
        state: state ?? this.#seen.state,
      };
      if (!this.isMessage) continue;
      const { owners } = this.deps;
      if (task !== null) owners.claim(this.server.url, 'task', task, this.owner);
      if (context !== null) owners.claim(this.server.url, 'context', context, this.owner);
    }
  }

  /** Tells limits and the log, once. */
  settle(end: {
    status: number;
    headers: Readonly<Record<string, string>>;
    body: Uint8Array | null;
    failure: string | null;
    answerText: string;
    firstEventMs?: number | null;
  }): void {
    if (this.#settled) return;
    this.#settled = true;
    if (!this.unsent) this.deps.services.release(this.identified.request);
    const input = this.inputTokens();
    const output = this.isMessage && this.reached ? meteredTokens(end.answerText) : 0;
    // Before the settlers, who take a call without a provider for one that reached nobody.
    this.admission?.end(this.reached, this.admission.countsTokens ? input + output : 0);
    this.context.metadata = { ...this.context.metadata, ...this.#facts() };
    this.deps.services.settle(this.context, {
      status: end.status,
      headers: end.headers,
      body: end.body,
      failure: end.failure,
      upstreamMs: this.upstreamMs,
      firstEventMs: end.firstEventMs ?? null,
      usage: this.isMessage && this.reached ? { ...noUsage, inputTokens: input, outputTokens: output } : null,
      guard: this.guard?.state ?? null,
    });
  }

  #facts(): Record<string, string> {
    const { task, context, state } = this.#seen;
    return {
      'agent.server': this.server.slug,
      'agent.server_id': this.server.id,
      'agent.method': this.operation.method,
      ...(task !== null && { 'agent.task_id': task.slice(0, longestValue) }),
      ...(context !== null && { 'agent.context_id': context.slice(0, longestValue) }),
      ...(state !== null && { 'agent.state': state }),
    };
  }
}

export const serviceOf = (
  server: Pick<AgentServer, 'slug' | 'integrationId' | 'url' | 'settings'>,
  method: string,
): ServiceCall => ({
  kind: 'agent',
  slug: server.slug,
  integrationId: server.integrationId,
  url: server.url,
  method,
  tool: '',
  limits: [],
  keepsBodies: server.settings.log_payloads !== false,
  mcp: null,
});

const encoder = new TextEncoder();

/** A refusal in the words of the binding. `id`: of a JSON-RPC request; undefined over HTTP+JSON. */
export function refusalReply(
  arrival: Arrival,
  error: AgentError,
  id: Posted['id'],
): Reply & { body: Uint8Array<ArrayBuffer> } {
  const isRpc = id !== undefined;
  const body = isRpc ? { jsonrpc: '2.0', id, error: error.rpc } : error.http;
  return {
    status: isRpc ? error.rpcStatus : error.status,
    headers: { 'content-type': 'application/json', ...error.headers, ...arrivalHeaders(arrival) },
    body: encoder.encode(JSON.stringify(body)),
  };
}
