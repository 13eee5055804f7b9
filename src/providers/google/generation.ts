/** What a model's name tells: its generation and its size, by which rules differ. */

/** `gemini-2.5-flash` and `gemini-live-2.5-flash` are 2.5; null for aliases, tuned models and other families. */
export function generationOf(model: string): number | null {
  const match = /gemini-(?:live-)?(\d+(?:\.\d+)?)(?![\d.])/.exec(model);
  return match ? Number(match[1]) : null;
}

/** Names that tell no generation are aliases of recent models. */
const isAtLeast = (model: string, generation: number, unknown: boolean): boolean => {
  const own = generationOf(model);
  return own === null ? unknown : own >= generation;
};

/** Takes JSON Schema as it is; older models know a subset of OpenAPI's. */
export const takesJsonSchema = (model: string): boolean => isAtLeast(model, 2.5, true);

/** Knows the field for JSON Schema, though it follows OpenAPI's subset better. */
export const knowsJsonSchema = (model: string): boolean => isAtLeast(model, 2, true);

/** Thinks by levels, matches results of tools to calls by id, wants its signatures back, and sees what tools show. */
export const isThirdGeneration = (model: string): boolean => isAtLeast(model, 3, false);
