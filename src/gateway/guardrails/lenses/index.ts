/** The lens for each kind of call whose streams guardrails look into. */
import type { EndpointKind } from '../../../providers/endpoints.ts';
import { chatLens } from './chat.ts';
import type { Lens } from './lens.ts';
import { messagesLens } from './messages.ts';
import { responsesLens } from './responses.ts';

const lenses: Partial<Record<EndpointKind, Lens>> = {
  chatComplete: chatLens,
  complete: chatLens,
  messages: messagesLens,
  createModelResponse: responsesLens,
};

export const lensOf = (kind: EndpointKind): Lens | null => lenses[kind] ?? null;
