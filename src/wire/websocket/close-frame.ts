/** What a close frame says: a code and a reason, or nothing. */
import { isUtf8 } from 'node:buffer';

export interface CloseFrame {
  code: number;
  reason: string;
}

/** Told of a close frame that says nothing; never sent. */
const withoutCode = 1005;
/** Told of a connection that ended without a close frame; never sent. */
export const withoutWord = 1006;

export const closeCode = {
  normal: 1000,
  protocolFault: 1002,
  notText: 1007,
  tooLarge: 1009,
  tryAgainLater: 1013,
} as const;

/** Codes that an endpoint may put into a close frame. */
export const isSendable = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && (code < 1004 || code > 1006)) || (code >= 3000 && code <= 4999);

/** What the payload says, or the code that answers one that cannot be read. */
export function readCloseFrame(payload: Uint8Array): CloseFrame | { fault: number } {
  const [high, low] = payload;
  if (high === undefined) return { code: withoutCode, reason: '' };
  const code = high * 256 + (low ?? 0);
  if (low === undefined || !isSendable(code)) return { fault: closeCode.protocolFault };
  const reason = payload.subarray(2);
  if (!isUtf8(reason)) return { fault: closeCode.notText };
  return { code, reason: decoder.decode(reason) };
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
