/** The OpenAPI document of the whole program: the administration from its declarations, the gateway from its routes, and the protocols that others define. */
import { createOpenApiDocument } from './admin/kernel/openapi/openapi.ts';
import { resources } from './admin/resources.ts';
import { gatewayDocument } from './gateway/openapi/operations.ts';
import { withNamedSchemas } from './http/openapi-components.ts';
import { type OpenApiDocument, withPart } from './http/openapi-document.ts';
import { protocolsDocument } from './openapi-protocols.ts';

export const wholeDocument = (): OpenApiDocument =>
  withNamedSchemas(withPart(withPart(createOpenApiDocument(resources), protocolsDocument()), gatewayDocument()));
