/** What MCP and agent integrations, and the servers made of them, have in common on the wire. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { secretMappingRecord, settingSecretMappings } from '../integrations/secret-mappings.ts';
import { slug } from '../integrations/slugs.ts';
import { commaList, flag, reference, search, timestamp } from '../kernel/fields.ts';

/** First segments of paths that belong to the service itself. */
export const reservedSlugs: ReadonlySet<string> = new Set([
  'v1',
  'v2',
  'v0',
  'v0_1',
  'oauth',
  'well-known',
  'health',
  'metrics',
  'mcp',
  'agent',
  'docs',
  'openapi',
  'assets',
]);

export const serviceSlug = lazy(() =>
  slug().refine((text) => !reservedSlugs.has(text.toLowerCase()), { message: 'is a word that the service keeps' }),
);

const name = () => z.string().trim().min(1).max(255);
const integrationDescription = () => z.string().trim().max(1_024);
const serverDescription = () => z.string().trim().max(500);

export const listOf = <R extends z.ZodType>(record: R) =>
  z.object({ data: z.array(record), total: z.number(), has_more: z.boolean() });

export const created = lazy(() => z.object({ id: z.string(), slug: z.string() }));
export const succeeded = lazy(() => z.object({ success: z.literal(true) }));

/** `settings`: what its `configurations` may hold. */
export const newIntegrationFields = <S extends z.ZodType>(settings: S) => ({
  name: name(),
  slug: serviceSlug().optional().describe('Made from the name unless it is given; never changes'),
  description: integrationDescription().nullish(),
  configurations: settings.nullish(),
  secret_mappings: settingSecretMappings().nullish(),
  organisation_id: reference.nullish(),
  workspace_id: reference.nullish().describe('Makes it an integration of this workspace alone'),
});

export const changeableIntegrationFields = <S extends z.ZodType>(settings: S) => ({
  name: name(),
  description: integrationDescription().nullable(),
  configurations: settings.describe('Laid over the stored ones; null takes a setting away'),
  secret_mappings: settingSecretMappings().nullable(),
});

/** What an update may name besides what it changes. */
export const place = () => ({ workspace_id: reference.nullish(), organisation_id: reference.nullish() });

export const integrationRecordFields = () => ({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  url: z.string(),
  configurations: z.record(z.string(), z.unknown()).describe('Credentials among them are masked'),
  secret_mappings: z.array(secretMappingRecord()),
  global_workspace_access: z.object({ enabled: z.boolean() }).nullable(),
  organisation_id: z.string(),
  workspace_id: z.string().nullable(),
  type: z.enum(['organisation', 'workspace']),
  status: z.enum(['active', 'archived']),
  owner_id: z.string().nullable(),
  created_at: timestamp,
  last_updated_at: timestamp,
});

export const integrationFilters = lazy(() =>
  z.object({
    organisation_id: reference.optional(),
    workspace_id: reference.optional().describe('Only what this workspace can use, by id or slug'),
    type: z.enum(['workspace', 'organisation', 'all']).default('all'),
    search: search(),
  }),
);
export type IntegrationFilters = z.output<ReturnType<typeof integrationFilters>>;

/** `address`: where clients connect to it. */
export const newServerFields = (address: string) => ({
  name: name(),
  workspace_id: reference.nullish().describe('Id or slug; needed with an admin key'),
  description: serverDescription().nullish(),
  slug: serviceSlug().min(3).max(50).optional().describe(`What clients connect to: ${address}`),
});

export const changeableServerFields = () => ({ name: name(), description: serverDescription().nullable() });

export const serverRecordFields = () => ({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  status: z.enum(['active', 'archived']),
  owner_id: z.string().nullable(),
  organisation_id: z.string(),
  workspace_id: z.string(),
  workspace_name: z.string(),
  workspace_slug: z.string(),
  auth_type: z.string(),
  default_user_access: z.enum(['allow', 'deny']),
  enabled: z.boolean().describe('Whether the integration is handed to the workspace'),
  created_at: timestamp,
  last_updated_at: timestamp,
});

export const serverFilters = lazy(() =>
  z.object({
    workspace_id: reference.optional().describe('Id or slug'),
    id: commaList(reference).optional().describe('Ids or slugs, separated by commas'),
    search: z.string().trim().min(1).max(255).optional(),
  }),
);
export type ServerFilters = z.output<ReturnType<typeof serverFilters>>;

const mostWorkspaces = 1_000;

export const workspacesUpdate = lazy(() =>
  z.object({
    workspaces: z
      .array(z.object({ id: reference.describe('Id or slug'), enabled: flag }))
      .max(mostWorkspaces)
      .default([]),
    global_workspace_access: z
      .object({ enabled: flag })
      .nullish()
      .describe('Whether workspaces that are made from now on get it too'),
    override_existing_workspace_access: flag.nullish().describe('True: the list replaces every grant that there is'),
  }),
);

export type WorkspacesUpdate = z.output<ReturnType<typeof workspacesUpdate>>;

const grantRecord = lazy(() =>
  z.object({
    id: z.string(),
    enabled: z.boolean(),
    status: z.enum(['active', 'archived']),
    created_at: timestamp,
    last_updated_at: timestamp,
  }),
);

export const workspacesList = lazy(() =>
  z.object({
    data: z.array(grantRecord()).optional().describe('With version in the query'),
    workspaces: z.array(grantRecord()).optional().describe('Without version in the query'),
    global_workspace_access: z.object({ enabled: z.boolean() }).nullable(),
    total: z.number(),
  }),
);
export const workspacesPaging = { size: mostWorkspaces, max: mostWorkspaces };
export const workspacesQuery = lazy(() =>
  z.object({ version: z.string().max(20).optional(), search: search('the name or the slug of the workspace') }),
);

export const userAccessFilters = lazy(() =>
  z.object({
    workspace_id: reference.optional(),
    search: z.string().trim().min(1).max(255).optional().describe('Part of a name or of an e-mail address'),
    page: z.string().max(10).optional().describe('The number of the page, from 1'),
  }),
);

export const userAccessRecord = lazy(() =>
  z.object({
    user_id: z.string(),
    first_name: z.string(),
    last_name: z.string(),
    enabled: z.boolean(),
    has_override: z.boolean(),
  }),
);

export const userAccessList = <P extends z.ZodType>(person: P) =>
  listOf(person).extend({ default_user_access: z.enum(['allow', 'deny']) });

export const userAccessUpdate = lazy(() =>
  z
    .object({
      user_access: z
        .array(z.object({ user_id: z.uuid(), enabled: flag.nullable().describe('null: the default counts again') }))
        .max(1_000)
        .optional(),
      default_user_access: z.enum(['allow', 'deny']).optional(),
      workspace_id: reference.nullish(),
    })
    .refine((body) => body.user_access !== undefined || body.default_user_access !== undefined, {
      path: ['user_access'],
      message: 'send user_access or default_user_access',
    }),
);

export type UserAccessUpdate = z.output<ReturnType<typeof userAccessUpdate>>;
