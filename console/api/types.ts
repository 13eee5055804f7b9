/** The records of the administration service as the console reads them, taken from the schemas of its replies. */
import type { z } from 'zod';
import type { createdKey, keyRecord, rotatedKey } from '../../src/admin/api-keys/schema.ts';
import type { auditRecord } from '../../src/admin/audit-logs/routes.ts';
import type { selfReply } from '../../src/admin/auth/self.ts';
import type { inviteRecord, linkRead } from '../../src/admin/invites/schema.ts';
import type { memberRecord } from '../../src/admin/members/record.ts';
import type { noticeRecord } from '../../src/admin/notices/routes.ts';
import type { organisationRecord, organisationSummary } from '../../src/admin/organisations/schema.ts';
import type { userListed } from '../../src/admin/users/schema.ts';
import type { workspaceRecord } from '../../src/admin/workspaces/schema.ts';
import type { OrganisationRole, WorkspaceRole } from '../../src/identity/roles.ts';
import type { RotationPolicyInput } from '../../src/identity/rotation.ts';
import type { Scope } from '../../src/identity/scopes.ts';
import type { OrganisationSettings, WorkspaceOverrides } from '../../src/identity/settings.ts';
import type { RateLimit, StoredUsageLimit } from '../../src/limits/entries.ts';

export type { OrganisationSettings, RateLimit, RotationPolicyInput, Scope, WorkspaceOverrides, WorkspaceRole };
export type UsageLimit = StoredUsageLimit;

export interface List<T> {
  total: number;
  data: T[];
}

/** Replies write scopes as text; the service and its console are one release, so that each is one they both know. */
type WithScopes<T> = Omit<T, 'scopes'> & { scopes: Scope[] };

export type Self = WithScopes<z.output<ReturnType<typeof selfReply>>>;
export type Person = Self['user'];
export type User = z.output<ReturnType<typeof userListed>>;
export type Member = z.output<ReturnType<typeof memberRecord>>;

type OrganisationSummary = z.output<ReturnType<typeof organisationSummary>>;
/** Who may not read settings is shown no more than the summary. */
export type Organisation = OrganisationSummary & Partial<z.output<ReturnType<typeof organisationRecord>>>;
export type OrganisationMembership = OrganisationSummary & { role: OrganisationRole };

export type Workspace = z.output<ReturnType<typeof workspaceRecord>>;

export type Invite = z.output<ReturnType<typeof inviteRecord>>;
export type InviteStatus = Invite['status'];
/** What somebody who holds an invite's link may know of it. */
export type InviteCard = z.output<ReturnType<typeof linkRead>>;

export type ApiKey = WithScopes<z.output<ReturnType<typeof keyRecord>>>;
export type ApiKeyType = ApiKey['type'];
export type RotationPolicy = NonNullable<ApiKey['rotation_policy']>;
export type CreatedKey = z.output<ReturnType<typeof createdKey>>;
export type RotatedKey = z.output<ReturnType<typeof rotatedKey>>;

export type NoticeRecord = z.output<ReturnType<typeof noticeRecord>>;
export type AuditRow = z.output<ReturnType<typeof auditRecord>>;
