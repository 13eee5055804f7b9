/** The list of resources: one line each. */
import { auditLogResource } from './audit-logs/routes.ts';
import { healthResource } from './health/routes.ts';
import type { Resource } from './kernel/endpoint.ts';

export const resources: readonly Resource[] = [healthResource, auditLogResource];
