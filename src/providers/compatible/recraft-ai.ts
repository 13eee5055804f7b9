/** Recraft. */
import { offered, openAiCompatible } from '../openai-compatible.ts';

export const recraftAi = openAiCompatible({
  id: 'recraft-ai',
  name: 'Recraft',
  address: 'https://external.api.recraft.ai/v1',
  endpoints: offered('imageGenerate'),
  notes: ["Style, substyle, controls and the other fields of Recraft's own travel as they are."],
});
