/** Asks a service and reads its answer as JSON: one way for all checks that do. */

import { jsonOrNothing } from '../bounded-json.ts';
import { isObject } from '../providers/json.ts';
import type { JsonObject } from '../providers/provider.ts';
import { CallFault, type CheckIo, type OutboundAnswer, type OutboundCall } from './io.ts';

/** The service answered, and not with a success. */
export class HttpError extends Error {
  override readonly name = 'HTTP Error';
  readonly status: number;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    super(`the service answered with the status ${status}`);
    this.status = status;
    this.body = body;
  }
}

export const agentName = 'gw-ai-plugin/1';

interface Question extends Omit<OutboundCall, 'method' | 'body' | 'headers'> {
  headers?: Readonly<Record<string, string>>;
  json: unknown;
}

/** Posts JSON; throws an HttpError for anything but 2xx, and a CallFault where there is no answer. */
export async function postJson(io: CheckIo, { json, headers, ...call }: Question): Promise<JsonObject> {
  const answer = await io.call({
    ...call,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': agentName, ...headers },
    body: JSON.stringify(json),
  });
  const value = jsonOf(answer);
  if (!isOk(answer)) throw new HttpError(answer.status, value);
  if (!isObject(value))
    throw new CallFault('Connection Error', 'the service answered with something that is no JSON object');
  return value;
}

export const isOk = ({ status }: OutboundAnswer): boolean => status >= 200 && status <= 299;

/** Undefined where the answer is no JSON. */
export function jsonOf({ bytes }: OutboundAnswer): unknown {
  const text = new TextDecoder().decode(bytes);
  return jsonOrNothing(text);
}
