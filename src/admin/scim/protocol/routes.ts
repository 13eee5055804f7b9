/** The routes of the SCIM protocol: discovery, users and groups. */
import { RouteTable } from '../../../http/routes.ts';
import { groupRoutes } from '../groups/routes.ts';
import { userRoutes } from '../users/routes.ts';
import { discoveryRoutes } from './discovery.ts';
import type { ScimRoute } from './route.ts';

export function scimRoutes(): RouteTable<ScimRoute> {
  const table = new RouteTable<ScimRoute>();
  for (const route of [...discoveryRoutes, ...userRoutes, ...groupRoutes]) table.add(route.method, route.path, route);
  return table;
}
