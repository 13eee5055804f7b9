/** Which workspaces may use an integration of the organisation, on the wire. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { keyRateLimits, rateLimitRecord, usageLimitInput, usageLimitRecord } from '../../limits/entries.ts';
import { flag, reference, timestamp } from '../kernel/fields.ts';
import { globalAccessRecord } from './schema.ts';
import { slug } from './slugs.ts';

const limits = lazy(() => ({
  usage_limits: z.array(usageLimitInput()).max(1).nullish().describe('At most one; null or an empty list removes it'),
  rate_limits: keyRateLimits().max(1).nullish().describe('At most one; null or an empty list removes it'),
}));

interface OverrideFlags {
  override_existing_workspace_access?: boolean | null | undefined;
  override_existing_workspaces_access?: boolean | null | undefined;
}

export const overrides = (update: OverrideFlags): boolean =>
  update.override_existing_workspace_access ?? update.override_existing_workspaces_access ?? false;

const mostWorkspaces = 1_000;

export const workspacesUpdate = lazy(() =>
  z
    .object({
      workspaces: z
        .array(
          z.object({
            id: reference.describe('Id or slug'),
            enabled: flag,
            ...limits(),
            reset_usage: flag.nullish().describe('Sets what was used back to nothing'),
            create_default_provider: flag.nullish(),
            default_provider_slug: slug().nullish(),
          }),
        )
        .max(mostWorkspaces)
        .optional(),
      global_workspace_access: z
        .object({ enabled: flag, ...limits() })
        .nullish()
        .describe('What workspaces get that are made from now on'),
      override_existing_workspace_access: flag
        .nullish()
        .describe('True: the list replaces the stored one, and the global limits replace those of single workspaces'),
      override_existing_workspaces_access: flag.nullish().describe('Another spelling of the same'),
      create_default_provider: flag.default(true).describe('Makes a provider in each workspace that is newly enabled'),
      default_provider_slug: slug().nullish(),
    })
    .refine((update) => update.workspaces?.length !== 0 || overrides(update), {
      path: ['workspaces'],
      message:
        'an empty list takes the integration from every workspace; confirm it by override_existing_workspace_access',
    })
    .refine((update) => update.workspaces !== undefined || update.global_workspace_access != null, {
      path: ['workspaces'],
      message: 'send workspaces or global_workspace_access',
    }),
);
export type WorkspacesUpdate = z.output<ReturnType<typeof workspacesUpdate>>;

export const grantRecord = lazy(() =>
  z.object({
    id: z.string().describe('The slug of the workspace'),
    enabled: z.boolean(),
    usage_limits: z.array(usageLimitRecord()).nullable(),
    rate_limits: z.array(rateLimitRecord()).nullable(),
    status: z.enum(['active', 'exhausted']),
    last_reset_at: timestamp.nullable(),
  }),
);

export const workspacesList = lazy(() =>
  z.object({
    total: z.number(),
    workspaces: z.array(grantRecord()),
    global_workspace_access: globalAccessRecord(),
  }),
);

export const workspacesPaging = { size: mostWorkspaces, max: mostWorkspaces };
