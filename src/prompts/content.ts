/** The content of a prompt version: what a saved prompt sends, before variables are filled in. */

type Json = Readonly<Record<string, unknown>>;

export interface PromptContent {
  /** The template: a JSON array of messages, or plain text. */
  string: string;
  /** True: the whole text is rendered and then read as JSON. */
  isRaw: boolean;
  /** Model parameters. */
  parameters: Json;
  model: string | null;
  /** The slug of the saved provider, without the @. */
  provider: string;
  functions: readonly unknown[] | null;
  tools: readonly unknown[] | null;
  toolChoice: unknown;
  /** Kept for the caller, such as `{"template_type": "chat"}`. */
  metadata: Json;
}
