/** Every job of the program. */
import type { Services } from '../admin/kernel/services.ts';
import type { Mailer } from '../mail/mailer.ts';
import { createAgentCardJob } from './agent-cards.ts';
import { createInviteExpiry } from './invites.ts';
import { createKeyExpiry, createKeyRotation } from './keys.ts';
import { createExportRun, createExportSweep } from './log-exports.ts';
import { createMailJob } from './mail.ts';
import { createManagedBatchRun, type OrderedWork } from './managed-batches.ts';
import { createMcpSync } from './mcp-sync.ts';
import { createOauthSweep } from './oauth-sweep.ts';
import { createProviderExpiry } from './providers.ts';
import type { Job } from './runner.ts';
import { createSessionSweep } from './sessions.ts';
import { createTaskOwnerJob } from './task-owners.ts';
import { createUsageReset } from './usage-reset.ts';
import { createUsageSyncJob } from './usage-sync.ts';
import { createWebhookJob, type PostOutside } from './webhooks.ts';

/** The ways out of the program that jobs take. */
export interface WaysOut {
  mailer: Mailer | null;
  post: PostOutside;
}

export const createJobs = (services: Services, ordered: OrderedWork, { mailer, post }: WaysOut): Job[] => [
  createInviteExpiry(services),
  createSessionSweep(services),
  createKeyExpiry(services),
  createKeyRotation(services),
  createUsageReset(services),
  createUsageSyncJob(services),
  createProviderExpiry(services),
  createMcpSync(services),
  createOauthSweep(services),
  createAgentCardJob(services),
  createTaskOwnerJob(services),
  createMailJob(services, mailer),
  createWebhookJob(services, post),
  createManagedBatchRun(services, ordered),
  createExportRun(services),
  createExportSweep(services),
];
