/** Gemini on Vertex AI. */
import { fault } from '../../providers/gemini.ts';
import { answers, settings } from '../../providers/vertex.ts';
import type { MatrixFamily } from '../family.ts';
import { gemini, scriptOf } from './gemini.ts';

export const vertex: MatrixFamily = {
  ...gemini,
  name: 'Vertex AI',
  provider: 'vertex-ai',
  settings,
  does: (script) =>
    script.fails ? fault(script.fails.status, 'RESOURCE_EXHAUSTED', script.fails.message) : answers(scriptOf(script)),
};
