/** Converse: the dialect that Bedrock has for every model that chats. */
import { unfolding } from '../chat/answer-tool.ts';
import type { ChatFamily } from '../chat/family.ts';
import { webMedia } from '../chat/turns.ts';
import { readConverse } from './answer.ts';
import { modelOf } from './model.ts';
import { converseReader } from './reader.ts';
import { converseRequest } from './request.ts';
import { formByTool } from './tools.ts';

export const converse: ChatFamily = {
  media: webMedia,
  request: converseRequest,
  response: (answer, _, raw) => readConverse(answer, raw),
  reader: (facts, asked) =>
    unfolding(converseReader(), asked !== undefined && formByTool(asked(), modelOf(facts)) !== null),
};
