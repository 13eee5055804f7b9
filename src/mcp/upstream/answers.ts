/** Reads what an upstream answers: one JSON message, or a stream of events. */
import { readJson } from '../../bounded-json.ts';
import type { Abortable } from '../../wire/abort.ts';
import type { WireAnswer } from '../../wire/client/answer.ts';
import { collected } from '../../wire/client/collected.ts';
import { McpError } from '../errors.ts';
import { EventReader } from '../protocol/events.ts';
import { isFields, type JsonRpcId, messageIn, type RpcMessage, type RpcResponse } from '../protocol/json-rpc.ts';
import { explained } from './http.ts';
import type { LinkEvent } from './link.ts';

export const largestMessage = 10 * 1024 * 1024;

export const isEventStream = ({ headers }: WireAnswer): boolean =>
  (headers.get('content-type') ?? '').toLowerCase().startsWith('text/event-stream');

export async function textOf({ body }: WireAnswer, signal: Abortable): Promise<string> {
  try {
    return body ? new TextDecoder().decode(await collected(body, largestMessage)) : '';
  } catch (fault) {
    throw explained(fault, signal);
  }
}

export function parsedMessage(text: string): RpcMessage | null {
  try {
    return messageIn(readJson(text));
  } catch {
    // Whatever it is, it is no message.
    return null;
  }
}

/** Some servers write one message a line, without saying that it is a stream. */
export function messagesIn(text: string): { message: RpcMessage; text: string }[] {
  const whole = parsedMessage(text);
  if (whole) return [{ message: whole, text }];
  return text.split('\n').flatMap((line) => {
    const message = line.trim() === '' ? null : parsedMessage(line);
    return message ? [{ message, text: line }] : [];
  });
}

/** The answer in a body that is no stream; what stands before it is told first. */
export function answerIn(
  text: string,
  id: JsonRpcId,
  onEvent?: (event: LinkEvent) => void,
): { response: RpcResponse; text: string } | null {
  for (const one of messagesIn(text)) {
    if (answers(one.message, id)) return { response: one.message, text: one.text };
    onEvent?.({ message: one.message, event: { id: null, event: null, data: one.text, retry: null } });
  }
  return null;
}

/** Whether this is the answer to the request of that id; some servers answer faults without one. */
export const answers = (message: RpcMessage | null, id: JsonRpcId): message is RpcResponse =>
  message?.kind === 'response' && (message.id === id || (message.id === null && message.error !== undefined));

/** Every event until the stream ends; `onEvent` answers true when nothing more is wanted. */
export async function readStream(
  { body }: WireAnswer,
  signal: Abortable,
  onEvent: (event: LinkEvent) => boolean,
): Promise<void> {
  if (!body) return;
  const reader = new EventReader(largestMessage);
  const stop = () => void body.cancel().catch(() => undefined);
  signal.addEventListener('abort', stop);
  try {
    for (;;) {
      const { done, value } = await body.read();
      if (signal.aborted) throw signal.reason;
      if (done) return;
      for (const event of reader.push(value)) {
        const message = event.data === '' ? null : parsedMessage(event.data);
        if (onEvent({ message, event })) {
          await body.cancel();
          return;
        }
      }
    }
  } catch (fault) {
    await body.cancel().catch(() => undefined);
    throw signal.aborted && signal.reason instanceof Error ? signal.reason : explained(fault, signal);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** An answer that is no message: what a proxy or a server of another kind says. */
export function strangeAnswer({ status, headers }: WireAnswer): McpError {
  if (status !== 429) {
    return new McpError('upstream_error', `the upstream answered with status ${status} and no MCP message`);
  }
  const seconds = /^\d{1,6}$/.exec(headers.get('retry-after') ?? '')?.[0];
  return new McpError('rate_limited', 'the upstream allows no more calls at the moment', {
    headers: { 'retry-after': seconds ?? '1' },
  });
}

const modernCodes = new Set([-32020, -32021, -32022]);

/** Whether a refusal is one that only servers of the stateless revision write. */
export function isModernRefusal(status: number, text: string): boolean {
  const message = parsedMessage(text);
  if (message?.kind !== 'response' || !message.error) return false;
  const { code, data } = message.error;
  return (
    modernCodes.has(code) ||
    (status === 400 && code === -32602 && isFields(data) && isFields(data.envelope)) ||
    (status === 404 && code === -32601)
  );
}
