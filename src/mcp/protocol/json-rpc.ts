/** JSON-RPC messages as they travel: told apart, and answered. What is inside of them is handed on as it came. */

export type JsonRpcId = string | number;
export type JsonRpcFields = Readonly<Record<string, unknown>>;

export interface RpcRequest {
  kind: 'request';
  id: JsonRpcId;
  method: string;
  params: JsonRpcFields;
}

export interface RpcNotification {
  kind: 'notification';
  method: string;
  params: JsonRpcFields;
}

export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

export interface RpcResponse {
  kind: 'response';
  id: JsonRpcId | null;
  result?: JsonRpcFields;
  error?: RpcError;
}

export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

export const isFields = (value: unknown): value is JsonRpcFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isId = (value: unknown): value is JsonRpcId =>
  typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));

/** The message in a parsed value; null where it is none. */
export function messageIn(value: unknown): RpcMessage | null {
  if (!isFields(value) || value.jsonrpc !== '2.0') return null;
  const { id, method, params } = value;
  if (method !== undefined) {
    if (typeof method !== 'string' || (params !== undefined && !isFields(params))) return null;
    const named = { method, params: params ?? {} };
    if (id === undefined) return { kind: 'notification', ...named };
    return isId(id) ? { kind: 'request', id, ...named } : null;
  }
  if (id !== null && !isId(id)) return null;
  const error = errorIn(value.error);
  if (error) return { kind: 'response', id, error };
  return isFields(value.result) ? { kind: 'response', id, result: value.result } : null;
}

function errorIn(value: unknown): RpcError | null {
  if (!isFields(value) || typeof value.code !== 'number' || typeof value.message !== 'string') return null;
  return { code: value.code, message: value.message, ...(value.data !== undefined && { data: value.data }) };
}

export const resultMessage = (id: JsonRpcId, result: JsonRpcFields): object => ({ jsonrpc: '2.0', id, result });
export const errorMessage = (id: JsonRpcId | null, error: RpcError): object => ({ jsonrpc: '2.0', id, error });
export const requestMessage = (id: JsonRpcId, method: string, params: JsonRpcFields): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
export const notificationMessage = (method: string, params: JsonRpcFields): object => ({
  jsonrpc: '2.0',
  method,
  params,
});

export const written = (message: RpcMessage): object => {
  if (message.kind === 'request') return requestMessage(message.id, message.method, message.params);
  if (message.kind === 'notification') return notificationMessage(message.method, message.params);
  return message.error
    ? errorMessage(message.id, message.error)
    : { jsonrpc: '2.0', id: message.id, result: message.result ?? {} };
};

export const parseError = -32700;
export const invalidRequest = -32600;
export const methodNotFound = -32601;
export const invalidParams = -32602;
export const internalError = -32603;
export const serverError = -32000;
export const timeoutError = -32001;
export const headerMismatch = -32020;
export const missingCapability = -32021;
export const unsupportedVersion = -32022;
export const urlElicitationRequired = -32042;
