/** The families in the matrix. A new one is a file here and a line below. */
import type { MatrixFamily } from '../family.ts';
import { ai21 } from './ai21.ts';
import { anthropic } from './anthropic.ts';
import { azureAi } from './azure-ai.ts';
import { claudeOnAzure } from './azure-ai-claude.ts';
import { azureOpenAi } from './azure-openai.ts';
import { bedrock } from './bedrock.ts';
import { claudeOnBedrock } from './bedrock-claude.ts';
import { bytez } from './bytez.ts';
import { cohere } from './cohere.ts';
import { gemini } from './gemini.ts';
import { huggingFace } from './huggingface.ts';
import { mistral } from './mistral.ts';
import { ollama } from './ollama.ts';
import { ollamaNative } from './ollama-native.ts';
import { openAiCompatible } from './openai-compatible.ts';
import { openAiByResponses, openAiWithoutChat } from './openai-responses.ts';
import { oracle } from './oracle.ts';
import { oracleCohere } from './oracle-cohere.ts';
import { rekaAi } from './reka-ai.ts';
import { replicate } from './replicate.ts';
import { sagemaker } from './sagemaker.ts';
import { vertex } from './vertex.ts';
import { claudeOnVertex } from './vertex-claude.ts';
import { watsonx } from './watsonx.ts';
import { workersAi } from './workers-ai.ts';

export const families: readonly MatrixFamily[] = [
  openAiCompatible,
  openAiByResponses,
  openAiWithoutChat,
  azureOpenAi,
  azureAi,
  huggingFace,
  workersAi,
  watsonx,
  sagemaker,
  ai21,
  mistral,
  ollama,
  ollamaNative,
  anthropic,
  claudeOnAzure,
  claudeOnVertex,
  claudeOnBedrock,
  bedrock,
  gemini,
  vertex,
  cohere,
  oracle,
  oracleCohere,
  replicate,
  rekaAi,
  bytez,
];
