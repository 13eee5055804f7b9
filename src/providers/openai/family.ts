/** OpenAI's chat completions as providers speak it: for clients that speak another dialect. */
import type { ChatFamily } from '../chat/family.ts';
import { mediaIn } from '../chat/turns.ts';
import { readAnswer } from './answer.ts';
import { chunkReader } from './reader.ts';
import { writeRequest } from './request.ts';
import type { OpenAiVariant } from './variant.ts';

export const openAiFamilyWith = (variant: OpenAiVariant): ChatFamily => ({
  // Images may be given by address; anything else is given whole.
  media: (conversation) =>
    mediaIn(conversation).flatMap(({ kind, source }) =>
      kind !== 'image' && kind !== 'video' && source.from === 'url' && /^https?:/i.test(source.url) ? [source.url] : [],
    ),
  request: (conversation, facts) => writeRequest(conversation, facts, variant),
  response: (answer, { newId }) => readAnswer(answer, newId),
  reader: ({ newId }) => chunkReader(newId),
});

export const openAiFamily: ChatFamily = openAiFamilyWith({});
