/** Converse: the dialect that Bedrock has for every model that chats. */
import type { ChatFamily } from '../chat/family.ts';
import { webMedia } from '../chat/turns.ts';
import { readConverse } from './answer.ts';
import { converseReader } from './reader.ts';
import { converseRequest } from './request.ts';

export const converse: ChatFamily = {
  media: webMedia,
  request: converseRequest,
  response: (answer, _, raw) => readConverse(answer, raw),
  reader: converseReader,
};
