/** Which of a provider's events say something that is worth keeping. All others are relayed unread. */
import { readJson } from '../../bounded-json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import type { SocketMessage } from '../../wire/websocket/relay.ts';

/** Speech comes in events of other types, thousands of them: they are passed over without parsing. */
const worthReading =
  /"type"\s*:\s*"(?:session\.(?:created|updated)|error|response\.(?:created|done)|conversation\.item\.(?:created|added|done|deleted|input_audio_transcription\.completed))"/;

/** An event longer than this is no event of these types, whatever it says. */
const longestRead = 4 * 1024 * 1024;

export interface ProviderEvent {
  type: string;
  fields: JsonObject;
  text: string;
}

export function readEvent(frame: SocketMessage): ProviderEvent | null {
  if (typeof frame !== 'string' || frame.length > longestRead || !worthReading.test(frame)) return null;
  const fields = parsed(frame);
  return fields && typeof fields.type === 'string' ? { type: fields.type, fields, text: frame } : null;
}

function parsed(text: string): JsonObject | null {
  try {
    return objectIn(readJson(text));
  } catch {
    // It goes to the client as it is; what the client cannot read we need not.
    return null;
  }
}

export const objectIn = (value: unknown): JsonObject | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;

export const textIn = (value: unknown): string | null => (typeof value === 'string' ? value : null);
