/** The environment variables of the administration: what the first start makes, and what may be managed. */
import { z } from 'zod';
import { flag, onUnlessOff, wholeNumber } from '../variable-fields.ts';

export const adminVariables = () => ({
  GW_ADMIN_API_KEY: z
    .string()
    .min(32, 'must be at least 32 characters long')
    .max(200)
    .regex(/^[\w~+/=-]+$/, 'may hold only letters, digits and - _ ~ + / =')
    .optional(),
  GW_OWNER_EMAIL: z.email().max(254).toLowerCase().default('owner@gw.local'),
  GW_OWNER_PASSWORD: z.string().min(12, 'must be at least 12 characters long').max(200).optional(),
  API_KEY_PREFIX: z
    .string()
    .max(20)
    .regex(/^[\w-]*$/, 'may hold only letters, digits, - and _')
    .default(''),
  ADMIN_RATE_LIMIT: wholeNumber(6_000, 0, 1e9),
  ADMIN_SENSITIVE_RATE_LIMIT: wholeNumber(120, 0, 1e9),
  DISABLE_ORG_CREATION: flag(),
  AUDIT_LOGS_ENABLED: onUnlessOff(),
  SCIM_ENABLED: onUnlessOff(),
  GUARDRAILS_ENABLED: onUnlessOff(),
  SCIM_MEMBERSHIP_USER_MODE: flag(),
});

type Variables = z.output<z.ZodObject<ReturnType<typeof adminVariables>>>;

export interface AdminSettings {
  firstAdminKey: string | null;
  ownerEmail: string;
  ownerPassword: string | null;
  apiKeyPrefix: string;
  /** Calls a minute for one credential; 0 switches the limit off. */
  adminRateLimit: number;
  sensitiveRateLimit: number;
  organisationCreation: boolean;
  auditLogs: boolean;
  /** False: no guardrail runs, and none can be managed. */
  guardrails: boolean;
  /** `userMode`: memberships of groups are written through users. */
  scim: { enabled: boolean; userMode: boolean };
}

export const adminSettings = (values: Variables): AdminSettings => ({
  firstAdminKey: values.GW_ADMIN_API_KEY ?? null,
  ownerEmail: values.GW_OWNER_EMAIL,
  ownerPassword: values.GW_OWNER_PASSWORD ?? null,
  apiKeyPrefix: values.API_KEY_PREFIX,
  adminRateLimit: values.ADMIN_RATE_LIMIT,
  sensitiveRateLimit: values.ADMIN_SENSITIVE_RATE_LIMIT,
  organisationCreation: !values.DISABLE_ORG_CREATION,
  auditLogs: values.AUDIT_LOGS_ENABLED,
  guardrails: values.GUARDRAILS_ENABLED,
  scim: { enabled: values.SCIM_ENABLED, userMode: values.SCIM_MEMBERSHIP_USER_MODE },
});
