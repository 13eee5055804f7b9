/** What Anthropic's API offers, also where another company hosts it. */
import type { EndpointKind } from '../endpoints.ts';
import type { JsonObject, OfferedEndpoint } from '../provider.ts';
import { batchEndpoints } from './batches.ts';
import { anthropicFamily } from './family.ts';
import { withoutForeignThoughts } from './foreign-thoughts.ts';
import { fileEndpoints } from './resources.ts';

const family = anthropicFamily();

/** Version and betas may stand in the body of a call to us; the API wants them as headers. */
function withoutHeaders(body: Readonly<JsonObject>): Readonly<JsonObject> {
  if (!('anthropic_version' in body || 'anthropic_beta' in body)) return body;
  const { anthropic_version: _, anthropic_beta: __, ...rest } = body;
  return rest;
}

const asOwn = (body: Readonly<JsonObject>): Readonly<JsonObject> => withoutForeignThoughts(withoutHeaders(body));

export const apiEndpoints: Partial<Record<EndpointKind, OfferedEndpoint>> = {
  chatComplete: { path: '/messages', chat: family },
  messages: { adjust: asOwn },
  messagesCountTokens: { adjust: asOwn },
  ...fileEndpoints,
  ...batchEndpoints(family),
};
