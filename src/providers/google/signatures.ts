/** Signatures of thoughts. Those of texts travel in a thought's signature, marked as Gemini's: another provider's would be refused. */
import type { ThinkingPart } from '../chat/conversation.ts';

const mark = 'gemini:';

/** Accepted by the provider in place of a signature that was lost. */
export const unchecked = 'skip_thought_signature_validator';

export const marked = (signature: string): string => mark + signature;

export const ownSignature = ({ signature }: ThinkingPart): string | null =>
  signature?.startsWith(mark) ? signature.slice(mark.length) : null;
