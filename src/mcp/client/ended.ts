/** How a request ends: its answer is written, logged and handed over; a fault is told in the words of the protocol. */
import type { CallContext } from '../call-context.ts';
import { failed, forClient } from '../called.ts';
import type { McpDeps } from '../deps.ts';
import type { McpError } from '../errors.ts';
import { UpstreamRefusal } from '../lists.ts';
import { logAnswer } from '../log.ts';
import {
  errorMessage,
  type JsonRpcFields,
  type JsonRpcId,
  type RpcMessage,
  type RpcRequest,
  resultMessage,
} from '../protocol/json-rpc.ts';
import type { Era } from '../protocol/versions.ts';
import type { McpResponder } from './responder.ts';

/** A message as it was posted. */
interface Asked {
  message: RpcMessage;
  text: string;
}

export interface ShownFailure {
  body: string;
  status: number;
  headers: Readonly<Record<string, string>>;
}

/** A fault as an answer; refusals of the upstream itself are answers like any other in the session era. */
export function shownFailure(error: McpError | UpstreamRefusal, id: JsonRpcId | null, era: Era): ShownFailure {
  if (!(error instanceof UpstreamRefusal)) {
    return { body: JSON.stringify(errorMessage(id, error.rpc)), status: error.status, headers: error.headers };
  }
  const body = JSON.stringify(errorMessage(id, error.error));
  return { body, status: era === 'session' ? 200 : error.status, headers: {} };
}

/** What the client is told of a fault; it is logged. */
export function failedAnswer(
  deps: McpDeps,
  context: CallContext,
  asked: Asked,
  fault: unknown,
  { era, startedAt }: { era: Era; startedAt: number },
): ShownFailure {
  const known = failed(fault, (one) => deps.onFault(one, context.requestId));
  const error = forClient(known, context.client);
  const id = asked.message.kind === 'request' ? asked.message.id : null;
  const shown = shownFailure(error, id, era);
  const { body: text, status } = shown;
  logAnswer(deps, context, asked, { text, status, upstreamMs: performance.now() - startedAt, error });
  return shown;
}

/** Answers a request without any upstream. */
export function answerHere(
  deps: McpDeps,
  context: CallContext,
  request: RpcRequest,
  asked: Asked,
  responder: McpResponder,
  result: JsonRpcFields,
): void {
  const text = JSON.stringify(resultMessage(request.id, result));
  logAnswer(deps, context, asked, { text, status: 200, upstreamMs: 0 });
  responder.finish(text, 200);
}
