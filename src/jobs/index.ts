/** Every job of the program. */
import type { Services } from '../admin/kernel/services.ts';
import { createInviteExpiry } from './invites.ts';
import { createKeyExpiry, createKeyRotation } from './keys.ts';
import { createManagedBatchRun, type OrderedWork } from './managed-batches.ts';
import { createMcpSync } from './mcp-sync.ts';
import { createProviderExpiry } from './providers.ts';
import type { Job } from './runner.ts';
import { createSessionSweep } from './sessions.ts';
import { createUsageReset } from './usage-reset.ts';
import { createUsageSyncJob } from './usage-sync.ts';

export const createJobs = (services: Services, ordered: OrderedWork): Job[] => [
  createInviteExpiry(services),
  createSessionSweep(services),
  createKeyExpiry(services),
  createKeyRotation(services),
  createUsageReset(services),
  createUsageSyncJob(services),
  createProviderExpiry(services),
  createMcpSync(services),
  createManagedBatchRun(services, ordered),
];
