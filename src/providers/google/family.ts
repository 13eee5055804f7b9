/** Gemini's way to generate content, for AI Studio and Vertex AI alike. */
import type { ChatFamily } from '../chat/family.ts';
import { readAnswer } from './answer.ts';
import { fetchedMedia } from './media.ts';
import { streamReader } from './reader.ts';
import { writeRequest } from './request.ts';
import type { Surface } from './surface.ts';

export const geminiFamily = (surface: Surface): ChatFamily => ({
  media: (conversation) => fetchedMedia(conversation, surface),
  request: (conversation, facts) => writeRequest(conversation, facts, surface),
  response: readAnswer,
  reader: streamReader,
});
