/** The routes of the SCIM protocol: discovery, users and groups. */
import { RouteTable } from '../../../http/routes.ts';
import type { AuditAction, AuditResource } from '../../kernel/audit/audit-vocabulary.ts';
import type { ScimContext } from '../context.ts';
import { groupRoutes } from '../groups/routes.ts';
import { userRoutes } from '../users/routes.ts';
import type { ResourceKinds } from './attributes.ts';
import { discoveryRoutes } from './discovery.ts';

export interface ScimCall extends ScimContext {
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  body: unknown;
  kinds: ResourceKinds;
  /** The address below which this client knows the resources. */
  base: string;
  note(entry: { resourceId?: string; details?: Record<string, unknown> }): void;
}

export interface ScimAnswer {
  status: 200 | 201 | 204;
  body?: unknown;
  location?: string;
}

export interface ScimRoute {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  /** Null for reads. */
  audit: { resource: AuditResource; action: AuditAction } | null;
  handle(call: ScimCall): Promise<ScimAnswer>;
}

export function scimRoutes(): RouteTable<ScimRoute> {
  const table = new RouteTable<ScimRoute>();
  for (const route of [...discoveryRoutes, ...userRoutes, ...groupRoutes]) table.add(route.method, route.path, route);
  return table;
}
