/** Which dialect a route's streams speak. */
import type { EndpointKind } from '../../providers/endpoints.ts';
import { chatDialect } from './chat.ts';
import type { Dialect } from './dialect.ts';
import { messagesDialect } from './messages.ts';
import { opaqueDialect } from './opaque.ts';
import { responsesDialect } from './responses.ts';

const dialects: Partial<Record<EndpointKind, Dialect>> = {
  chatComplete: chatDialect,
  complete: chatDialect,
  messages: messagesDialect,
  createModelResponse: responsesDialect,
};

export const dialectOf = (kind: EndpointKind): Dialect => dialects[kind] ?? opaqueDialect;
