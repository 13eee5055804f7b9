/** Names of models that carry the slug of a saved provider. */

/** `@slug/model` at its first slash; the model may hold further ones. */
export function splitModel(text: string): { slug: string; model: string | null } {
  const slash = text.indexOf('/');
  return slash === -1
    ? { slug: text.slice(1), model: null }
    : { slug: text.slice(1, slash), model: text.slice(slash + 1) };
}

/** Whether the loosest server might take a field of this name for the model: in any case, with spaces around it, or as a list. */
export const readsAsModel = (name: string): boolean =>
  name
    .toLowerCase()
    .replace(/(?:\[[^\]]*\]?)+\s*$/, '')
    .trim() === 'model';
