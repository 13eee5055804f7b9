/** One request to an upstream as seen from outside: the way that it takes, how it ended, and what the caller is told of its end. */
import type { GuardState } from '../gateway/guardrails/state.ts';
import { McpError } from './errors.ts';
import { UpstreamRefusal } from './lists.ts';
import {
  isFields,
  type JsonRpcFields,
  type RpcResponse,
  urlElicitationRequired,
  written,
} from './protocol/json-rpc.ts';
import type { ClientFacts, Link, LinkEvent, LinkRequest } from './upstream/link.ts';

export interface Way {
  /** Opens or finds the way to the upstream; `lost`: the upstream no longer knows the one before. */
  link(lost: boolean): Promise<Link>;
  /** Asks the client itself; null where it cannot be asked. */
  askClient: ((method: string, params: JsonRpcFields) => Promise<RpcResponse>) | null;
  onEvent?(event: LinkEvent): void;
  /** False: the client takes up streams that the upstream ends early. */
  resume?: boolean;
  signal?: LinkRequest['signal'];
  /** The client's `mcp-param-…` headers. */
  headers?: Readonly<Record<string, string>>;
  /** The message as the client wrote it. */
  bytes?: LinkRequest['bytes'];
  /** Counts what is held of the answer until the client's request is over. */
  room?: LinkRequest['room'];
}

export interface Called {
  /** Null: the upstream ended its stream, and the client goes on by itself. */
  response: RpcResponse | null;
  /** As the upstream wrote it, where nothing in it changed. */
  text: string | null;
  status: number;
  tokenRefreshed: boolean;
  /** What guardrails said of it; null where none did. */
  guard: GuardState | null;
}

/** The response as it is written to the client: the upstream's own bytes where nothing changed. */
export const textOfCalled = ({ text, response }: Called & { response: RpcResponse }): string =>
  text ?? JSON.stringify(written(response));

/** What went wrong, as the caller is told; errors of the upstream pass unchanged. */
export function failed(fault: unknown, onFault: (fault: unknown) => void): McpError | UpstreamRefusal {
  if (fault instanceof McpError || fault instanceof UpstreamRefusal) return fault;
  onFault(fault);
  return new McpError('internal_error', 'something went wrong on our side');
}

/** A client that can open addresses for its user is told so in its own words. */
export function forClient(
  error: McpError | UpstreamRefusal,
  { capabilities }: ClientFacts,
): McpError | UpstreamRefusal {
  if (!(error instanceof McpError) || error.kind !== 'authorization_required') return error;
  const { elicitation } = capabilities;
  const url = error.data?.authorization_url;
  if (!isFields(elicitation) || elicitation.url === undefined || typeof url !== 'string') return error;
  const elicitationId = Bun.CryptoHasher.hash('sha256', url, 'hex').slice(0, 32);
  const message = 'Sign in to use this server';
  return new McpError('authorization_required', error.message, {
    code: urlElicitationRequired,
    data: { ...error.data, elicitations: [{ mode: 'url', url, message, elicitationId }] },
  });
}
