/** What of a prompt is kept sealed: its text and everything that may quote from it. */
import type { PromptContent } from './content.ts';

export type SealedContent = Pick<
  PromptContent,
  'string' | 'isRaw' | 'parameters' | 'functions' | 'tools' | 'toolChoice'
>;

interface Opener {
  open(sealed: string, purpose: string): string;
}

export const openPromptContent = (vault: Opener, sealed: string): SealedContent =>
  JSON.parse(vault.open(sealed, 'prompt'));

export const openPartialText = (vault: Opener, sealed: string): string => vault.open(sealed, 'prompt-partial');
