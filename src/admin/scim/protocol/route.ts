/** A route of the SCIM protocol, what it is called with and what it answers. */
import type { AuditAction, AuditResource } from '../../kernel/audit/audit-vocabulary.ts';
import type { ScimContext } from '../context.ts';
import type { ResourceKinds } from './attributes.ts';

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
