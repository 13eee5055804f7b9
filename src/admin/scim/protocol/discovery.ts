/** What clients ask before anything else, and what this service does not have. */
import { ScimError, unknownResource } from './errors.ts';
import type { ScimCall, ScimRoute } from './route.ts';
import { listResponse, resourceType, schemaOf, serviceProviderConfig } from './schemas.ts';

const kindsOf = ({ kinds }: ScimCall) => [kinds.user, kinds.group];

const reading = (path: string, body: (call: ScimCall) => unknown): ScimRoute => ({
  method: 'GET',
  path,
  audit: null,
  handle: async (call) => ({ status: 200, body: body(call) }),
});

const notImplemented = (method: ScimRoute['method'], path: string, detail: string): ScimRoute => ({
  method,
  path,
  audit: null,
  handle: () => Promise.reject(new ScimError(501, null, detail)),
});

export const discoveryRoutes: readonly ScimRoute[] = [
  reading('/ServiceProviderConfig', ({ base }) => serviceProviderConfig(base)),
  reading('/ResourceTypes', (call) => {
    const types = kindsOf(call).map((kind) => resourceType(kind, call.base));
    return listResponse(types, types.length);
  }),
  reading('/ResourceTypes/:id', (call) => {
    const kind = kindsOf(call).find(({ name }) => name === call.params.id);
    if (!kind) throw unknownResource('No such resource type');
    return resourceType(kind, call.base);
  }),
  reading('/Schemas', (call) => {
    const schemas = kindsOf(call).map((kind) => schemaOf(kind, call.base));
    return listResponse(schemas, schemas.length);
  }),
  reading('/Schemas/:id', (call) => {
    const kind = kindsOf(call).find(({ schema }) => schema === call.params.id);
    if (!kind) throw unknownResource('No such schema');
    return schemaOf(kind, call.base);
  }),
  notImplemented('POST', '/.search', 'Several kinds of resources are not searched at once; use /Users/.search'),
  notImplemented('POST', '/Bulk', 'Bulk operations are not offered'),
  notImplemented('GET', '/Me', 'A SCIM token stands for no user'),
];
