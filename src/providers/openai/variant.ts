/** What servers of this dialect may take beyond OpenAI's own fields. */
export interface OpenAiVariant {
  /** Marks for the prompt cache, on parts and tools. */
  cacheMarks?: boolean;
  /** The field of an assistant's message that takes its earlier thoughts; absent where none does. */
  thoughts?: 'reasoning_content' | 'reasoning';
}
