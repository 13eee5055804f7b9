/** Upstreams of the stateless era ask for what they need inside a result; a client of the session era is asked for it in requests. */
import type { Called } from '../called.ts';
import { McpError } from '../errors.ts';
import { isFields, type JsonRpcFields, type RpcRequest, type RpcResponse } from '../protocol/json-rpc.ts';
import { metaKeys } from '../protocol/versions.ts';

const mostRounds = 10;

export async function withInputs(
  request: RpcRequest,
  ask: (method: string, params: JsonRpcFields) => Promise<RpcResponse>,
  logLevel: string | null,
  call: (request: RpcRequest) => Promise<Called>,
): Promise<Called> {
  let params = logLevel === null ? request.params : withMeta(request.params, { [metaKeys.logLevel]: logLevel });
  for (let round = 0; round < mostRounds; round++) {
    const called = await call({ ...request, params });
    const result = called.response?.result;
    if (!called.response || !result) return called;
    if (result.resultType !== 'input_required') {
      return { ...called, response: { ...called.response, result: asSessionResult(result) }, text: null };
    }
    const inputResponses: Record<string, unknown> = {};
    for (const [key, wanted] of Object.entries(isFields(result.inputRequests) ? result.inputRequests : {})) {
      if (!isFields(wanted) || typeof wanted.method !== 'string') continue;
      const answer = await ask(wanted.method, isFields(wanted.params) ? wanted.params : {});
      if (answer.error) {
        return { ...called, response: { kind: 'response', id: request.id, error: answer.error }, text: null };
      }
      inputResponses[key] = answer.result ?? {};
    }
    params = {
      ...params,
      inputResponses,
      ...(typeof result.requestState === 'string' && { requestState: result.requestState }),
    };
  }
  throw new McpError('upstream_error', 'the upstream goes on asking for input');
}

const withMeta = (params: JsonRpcFields, meta: JsonRpcFields): JsonRpcFields => ({
  ...params,
  _meta: { ...(isFields(params._meta) ? params._meta : {}), ...meta },
});

/** Without the fields that only the stateless era knows. */
function asSessionResult(result: JsonRpcFields): JsonRpcFields {
  const { resultType: _type, ttlMs: _ttl, cacheScope: _scope, ...rest } = result;
  if (!isFields(rest._meta)) return rest;
  const { [metaKeys.serverInfo]: _info, ...meta } = rest._meta;
  const { _meta, ...plain } = rest;
  return Object.keys(meta).length > 0 ? { ...plain, _meta: meta } : plain;
}
