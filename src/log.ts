/** The program's own log: one JSON line an event, on standard error. Requests have their own store; this is for operators. */
export interface Log {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

const line =
  (level: string) =>
  (message: string, fields: Record<string, unknown> = {}) => {
    process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`);
  };

export const stderrLog: Log = { info: line('info'), warn: line('warn'), error: line('error') };
export const silentLog: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

const seldomMs = 60_000;

/** Warns of the same thing once a minute at most. */
export function throttled(warn: Log['warn'], now = () => performance.now()): Log['warn'] {
  const warnedAt = new Map<string, number>();
  return (message, fields) => {
    const last = warnedAt.get(message);
    if (last !== undefined && now() - last < seldomMs) return;
    warnedAt.set(message, now());
    warn(message, fields);
  };
}

/** A fault as log fields: the message and, for faults of ours, where it came from. */
export const faultFields = (fault: unknown): Record<string, unknown> =>
  fault instanceof Error ? { fault: fault.message, stack: fault.stack } : { fault: String(fault) };
