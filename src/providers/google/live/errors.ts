/** What the client is told when something cannot be done: an `error` event. The session goes on. */
import { RequestFault } from '../../faults.ts';
import type { JsonObject } from '../../provider.ts';

/** A fault for which OpenAI has a code. */
export class EventFault extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The event's fields; null for a fault of ours. */
export function errorOf(fault: unknown, eventId: string | null): JsonObject | null {
  const type = 'invalid_request_error';
  if (fault instanceof RequestFault) {
    const { field: param, message } = fault;
    return { error: { type, code: 'invalid_value', message, param, event_id: eventId } };
  }
  if (!(fault instanceof EventFault)) return null;
  return { error: { type, code: fault.code, message: fault.message, param: null, event_id: eventId } };
}

/** Something that the provider said, and that no event of OpenAI's says. */
export const notice = (code: string, message: string, param: string | null = null): JsonObject => ({
  error: { type: 'server_error', code, message, param, event_id: null },
});

const serverFaults = new Set([1011, 1012, 1013, 1014]);

/** Google names the fault in its close frame only. */
export function closeError(code: number, reason: string): JsonObject {
  const type = serverFaults.has(code) || code === 1006 ? 'server_error' : 'invalid_request_error';
  const words = reason || (code === 1006 ? 'the provider cut the session off' : `the provider closed it with ${code}`);
  return { error: { type, code: 'session_closed', message: words, param: null, event_id: null } };
}
