/** When a target is asked again, and after how long. */
import { readJson } from '../../bounded-json.ts';
import type { RetryRule } from '../../catalog/plan.ts';

const firstWaitMs = 1_000;
/** No wait that a provider asks for may be longer than this, alone or together. */
const longestWaitMs = 60_000;

export interface RetryState {
  made: number;
  waitedMs: number;
}

/** The answer after which a target may be asked again. */
interface FailedTry {
  status: number;
  headers: Pick<Headers, 'get'> | null;
  now: Date;
}

/** The wait before the next try; null when there is none to make. */
export function waitBefore(rule: RetryRule, state: RetryState, { status, headers, now }: FailedTry): number | null {
  if (state.made >= rule.attempts) return null;
  if (rule.useRetryAfter && status === 429 && headers) {
    const asked = retryAfter(headers, now);
    if (asked !== null) return asked >= longestWaitMs || state.waitedMs + asked > longestWaitMs ? null : asked;
  }
  return firstWaitMs * 2 ** state.made;
}

/** The wait that the provider asks for, in any of its forms. */
function retryAfter(headers: Pick<Headers, 'get'>, now: Date): number | null {
  for (const name of ['retry-after-ms', 'x-ms-retry-after-ms']) {
    const value = Number(headers.get(name) || Number.NaN);
    if (value >= 0) return value;
  }
  const text = headers.get('retry-after');
  if (!text) return null;
  const seconds = Number(text);
  if (!Number.isNaN(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now.getTime());
}

const finalCodes = new Set([
  'context_length_exceeded',
  'content_policy_violation',
  'content_filter',
  'string_above_max_length',
]);
const finalWords =
  /context (length|window)|maximum context|prompt is too long|too many tokens|content (policy|filter|management)/i;

/** A prompt that is too long, or content that was refused: asking the same target again cannot help. */
export function isFinalRefusal(status: number, body: Uint8Array): boolean {
  if (status < 400 || status >= 500 || status === 429 || status === 408) return false;
  try {
    const { error } = readJson(new TextDecoder().decode(body)) as { error?: { code?: unknown; message?: unknown } };
    return finalCodes.has(String(error?.code)) || finalWords.test(String(error?.message));
  } catch {
    return false;
  }
}
