/** OpenAI's responses as providers speak it: for models that have no chat, and for clients that ask to be served by it. */
import type { ChatFamily } from '../../chat/family.ts';
import { readAnswer } from './answer.ts';
import { ResponsesStreamReader } from './reader.ts';
import { writeRequest } from './request.ts';

export const responsesFamily: ChatFamily = {
  request: writeRequest,
  response: readAnswer,
  reader: () => new ResponsesStreamReader(),
};
