/** The environment variables that the program reads, checked once at start. docs/configuration.md lists them for users. */

import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { StoreAddress } from './store/database.ts';

const list = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  );

/** The form of the reference product's feature switches: `OFF` turns a feature off, anything else leaves it on. */
const onUnlessOff = z
  .string()
  .default('ON')
  .transform((value) => value.trim().toUpperCase() !== 'OFF');

const flag = z
  .string()
  .default('')
  .transform((value) => ['1', 'true', 'on', 'yes'].includes(value.trim().toLowerCase()));

const wholeNumber = (fallback: number, least: number, most: number) =>
  z.coerce.number().int().min(least).max(most).default(fallback);

const schema = z.object({
  PORT: wholeNumber(8787, 0, 65_535),
  HOST: z.string().min(1).default('127.0.0.1'),
  GW_DATA_DIR: z.string().min(1).default('./data'),
  GW_ADMIN_API_KEY: z
    .string()
    .min(32, 'must be at least 32 characters long')
    .max(200)
    .regex(/^[\w~+/=-]+$/, 'may hold only letters, digits and - _ ~ + / =')
    .optional(),
  GW_OWNER_EMAIL: z.email().max(254).toLowerCase().default('owner@gw.local'),
  GW_OWNER_PASSWORD: z.string().min(12, 'must be at least 12 characters long').max(200).optional(),
  GW_MASTER_KEY: z.string().min(32, 'must be at least 32 characters long').optional(),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must be a postgres:// address')
    .optional(),
  API_KEY_PREFIX: z
    .string()
    .max(20)
    .regex(/^[\w-]*$/, 'may hold only letters, digits, - and _')
    .default(''),
  CONTROL_PLANE_URL: z.url({ protocol: /^https?$/ }).optional(),
  TRUSTED_CUSTOM_HOSTS: list,
  TRUSTED_PROXIES: list,
  ADMIN_RATE_LIMIT: wholeNumber(6_000, 0, 1e9),
  ADMIN_SENSITIVE_RATE_LIMIT: wholeNumber(120, 0, 1e9),
  DISABLE_ORG_CREATION: flag,
  AUDIT_LOGS_ENABLED: onUnlessOff,
});

export interface Settings {
  port: number;
  host: string;
  dataDir: string;
  store: StoreAddress;
  masterKey: string | null;
  firstAdminKey: string | null;
  ownerEmail: string;
  ownerPassword: string | null;
  apiKeyPrefix: string;
  /** The public address of the console, for links in notices; null: as the caller reached us. */
  publicUrl: string | null;
  trustedHosts: readonly string[];
  trustedProxies: readonly string[];
  /** Calls a minute for one credential; 0 switches the limit off. */
  adminRateLimit: number;
  sensitiveRateLimit: number;
  organisationCreation: boolean;
  auditLogs: boolean;
}

export class EnvironmentError extends Error {}

export function readEnvironment(env: Record<string, string | undefined>): Settings {
  // A variable set to nothing counts as not set, as shells and compose files produce it.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw new EnvironmentError(`Wrong environment: ${faults.join('; ')}`);
  }
  const values = parsed.data;
  const dataDir = resolve(values.GW_DATA_DIR);
  return {
    port: values.PORT,
    host: values.HOST,
    dataDir,
    store: values.DATABASE_URL
      ? { engine: 'postgres', url: values.DATABASE_URL }
      : { engine: 'sqlite', file: join(dataDir, 'state.db') },
    masterKey: values.GW_MASTER_KEY ?? null,
    firstAdminKey: values.GW_ADMIN_API_KEY ?? null,
    ownerEmail: values.GW_OWNER_EMAIL,
    ownerPassword: values.GW_OWNER_PASSWORD ?? null,
    apiKeyPrefix: values.API_KEY_PREFIX,
    publicUrl: values.CONTROL_PLANE_URL?.replace(/\/+$/, '') ?? null,
    trustedHosts: values.TRUSTED_CUSTOM_HOSTS,
    trustedProxies: values.TRUSTED_PROXIES,
    adminRateLimit: values.ADMIN_RATE_LIMIT,
    sensitiveRateLimit: values.ADMIN_SENSITIVE_RATE_LIMIT,
    organisationCreation: !values.DISABLE_ORG_CREATION,
    auditLogs: values.AUDIT_LOGS_ENABLED,
  };
}
