/** The dialects that clients speak to models, by route. */
import type { Front } from '../chat/family.ts';
import type { EndpointKind } from '../endpoints.ts';
import { chatFront } from './chat/chat.ts';
import { messagesFront } from './messages/messages.ts';
import { responsesFront } from './responses/responses.ts';

export const fronts: Partial<Record<EndpointKind, Front>> = {
  chatComplete: chatFront,
  messages: messagesFront,
  createModelResponse: responsesFront,
};
