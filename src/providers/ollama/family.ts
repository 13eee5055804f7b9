/** Ollama's own chat: for clients that ask for thinking, the time that a model stays loaded, or its options. */
import type { ChatFamily } from '../chat/family.ts';
import { webMedia } from '../chat/turns.ts';
import { lineReader, readAnswer } from './answer.ts';
import { writeRequest } from './request.ts';

export const ollamaFamily: ChatFamily = {
  media: webMedia,
  request: writeRequest,
  response: (answer, { newId }) => readAnswer(answer, newId),
  reader: ({ newId }) => lineReader(newId),
};
