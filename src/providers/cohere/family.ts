/** Cohere's chat as a family of providers. */
import type { ChatFamily } from '../chat/family.ts';
import { readAnswer } from './answer.ts';
import { CohereReader } from './reader.ts';
import { writeRequest } from './request.ts';

export const cohereFamily: ChatFamily = {
  request: writeRequest,
  response: (answer, { newId }) => readAnswer(answer, newId),
  reader: ({ newId }) => new CohereReader(newId),
};
