/** Why a model stopped, in the words of messages. */
import type { AnswerEvent, FinishReason } from '../../chat/answer.ts';

const reasons: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

/** Words of this dialect's own that say more than ours. */
const ownWords = new Set(['pause_turn', 'model_context_window_exceeded', 'stop_sequence']);

export function stopReason(
  { reason, providerReason, stopSequence }: Extract<AnswerEvent, { type: 'finish' }>,
  { called, refused }: { called: boolean; refused: boolean },
): { stop_reason: string; stop_sequence: string | null } {
  const spoken = stopSequence === null ? providerReason : 'stop_sequence';
  if (spoken !== null && ownWords.has(spoken)) return { stop_reason: spoken, stop_sequence: stopSequence };
  if (reason === 'stop' && called) return { stop_reason: 'tool_use', stop_sequence: null };
  return { stop_reason: refused ? 'refusal' : reasons[reason], stop_sequence: null };
}
