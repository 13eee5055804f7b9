/** The OpenAPI document of the whole program: the administration from its declarations, the gateway from its routes, and the protocols that others define. */
import { openApiInTurns } from './admin/kernel/openapi/openapi.ts';
import { resources } from './admin/resources.ts';
import { gatewayDocument } from './gateway/openapi/operations.ts';
import { namedInTurns } from './http/openapi-components.ts';
import { type OpenApiDocument, withPart } from './http/openapi-document.ts';
import { atOnce, type InTurns } from './in-turns.ts';
import { protocolsDocument } from './openapi-protocols.ts';

/** It takes a processor the best part of a second, so that it is made in turns. */
export function* wholeDocumentInTurns(): InTurns<OpenApiDocument> {
  const administration = yield* openApiInTurns(resources);
  return yield* namedInTurns(withPart(withPart(administration, protocolsDocument()), gatewayDocument()));
}

export const wholeDocument = (): OpenApiDocument => atOnce(wholeDocumentInTurns());
