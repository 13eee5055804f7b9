/** The two places that serve Gemini: AI Studio with its keys, and Vertex AI in a project of Google Cloud. */
export type Surface = 'studio' | 'vertex';

export const nameOf = (surface: Surface): string => (surface === 'studio' ? 'Gemini' : 'Vertex AI');
