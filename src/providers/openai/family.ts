/** OpenAI's chat completions as providers speak it: for clients that speak another dialect. */
import type { ChatFamily } from '../chat/family.ts';
import { readAnswer } from './answer.ts';
import { chunkReader } from './reader.ts';
import { writeRequest } from './request.ts';

export const openAiFamily: ChatFamily = {
  request: writeRequest,
  response: (answer, { newId }) => readAnswer(answer, newId),
  reader: ({ newId }) => chunkReader(newId),
};
