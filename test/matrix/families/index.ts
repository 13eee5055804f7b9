/** The families in the matrix. A new one is a file here and a line below. */
import type { MatrixFamily } from '../family.ts';
import { anthropic } from './anthropic.ts';
import { bedrock } from './bedrock.ts';
import { cohere } from './cohere.ts';
import { gemini } from './gemini.ts';
import { mistral } from './mistral.ts';
import { openAiCompatible } from './openai-compatible.ts';
import { vertex } from './vertex.ts';

export const families: readonly MatrixFamily[] = [
  openAiCompatible,
  anthropic,
  gemini,
  vertex,
  bedrock,
  cohere,
  mistral,
];
