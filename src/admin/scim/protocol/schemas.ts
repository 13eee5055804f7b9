/** What the service says about itself: ServiceProviderConfig, ResourceTypes and Schemas. */
import type { Attribute, ResourceKind } from './attributes.ts';

/** Most resources in one answer. */
export const mostResults = 200;

export const serviceProviderConfig = (base: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: mostResults },
  changePassword: { supported: false },
  sort: { supported: true },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: "The organisation's SCIM token in the header Authorization",
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
});

export const resourceType = (kind: ResourceKind, base: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
  id: kind.name,
  name: kind.name,
  endpoint: kind.endpoint,
  description: kind.description,
  schema: kind.schema,
  schemaExtensions: [],
  meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${kind.name}` },
});

export const schemaOf = (kind: ResourceKind, base: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
  id: kind.schema,
  name: kind.name,
  description: kind.description,
  attributes: kind.attributes.map(attributeEntry),
  meta: { resourceType: 'Schema', location: `${base}/Schemas/${kind.schema}` },
});

const attributeEntry = (attribute: Attribute): Record<string, unknown> => ({
  name: attribute.name,
  type: attribute.type,
  multiValued: attribute.multiValued ?? false,
  description: attribute.description,
  required: attribute.required ?? false,
  caseExact: attribute.caseExact ?? false,
  mutability: attribute.mutability ?? 'readWrite',
  returned: 'default',
  uniqueness: attribute.uniqueness ?? 'none',
  ...(attribute.canonicalValues && { canonicalValues: attribute.canonicalValues }),
  ...(attribute.referenceTypes && { referenceTypes: attribute.referenceTypes }),
  ...(attribute.subAttributes && { subAttributes: attribute.subAttributes.map(attributeEntry) }),
});

export const listResponse = (resources: readonly unknown[], total: number, startIndex = 1) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
  totalResults: total,
  itemsPerPage: resources.length,
  startIndex,
  Resources: resources,
});
