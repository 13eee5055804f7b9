/** OpenAI's chat completions, as clients speak it. */
import type { Front } from '../../chat/family.ts';
import { readChat } from './read.ts';
import { chatWriter } from './stream.ts';
import { writeChat } from './write.ts';

export const chatFront: Front = { read: readChat, write: writeChat, writer: chatWriter };
