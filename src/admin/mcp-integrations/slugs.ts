/** Slugs of MCP integrations and servers. */
import type { Db } from '../../store/database.ts';
import { mcpFamily } from '../provisioning/family.ts';
import { isIntegrationSlugTaken, isServerSlugTaken, newIntegrationSlug, newServerSlug } from '../provisioning/slugs.ts';

export const isMcpIntegrationSlugTaken = (db: Db, organisationId: string, slug: string): Promise<boolean> =>
  isIntegrationSlugTaken(mcpFamily, db, organisationId, slug);

export const isMcpServerSlugTaken = (db: Db, organisationId: string, slug: string): Promise<boolean> =>
  isServerSlugTaken(mcpFamily, db, organisationId, slug);

export const newMcpIntegrationSlug = (db: Db, organisationId: string, name: string): Promise<string> =>
  newIntegrationSlug(mcpFamily, db, organisationId, name);

export const newMcpServerSlug = (db: Db, organisationId: string, name: string): Promise<string> =>
  newServerSlug(mcpFamily, db, organisationId, name);
