/** Configs on the wire. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { flag, reference } from '../kernel/fields.ts';
import { listOf } from '../kernel/lists/paging.ts';

const name = lazy(() => z.string().trim().min(1).max(255));
/** As long as a body may be. */
const longestText = 1024 * 1024;

const config = lazy(() =>
  z
    .union([z.record(z.string().max(255), z.unknown()), z.string().min(2).max(longestText)])
    .describe('The routing config: an object, or its JSON as text'),
);

const isDefault = lazy(() => flag.optional().describe('Whether this is the default config of the workspace'));

export const newConfig = lazy(() =>
  z.object({
    name: name(),
    config: config(),
    isDefault: isDefault(),
    is_default: isDefault(),
    workspace_id: reference.optional().describe('Without it: the organisation’s default workspace, or the key’s own'),
  }),
);

const changeable = () => ({
  name: name().optional(),
  config: config().optional(),
  status: z.enum(['active', 'archived']).optional().describe('`active` brings an archived config back'),
  isDefault: isDefault(),
  is_default: isDefault(),
});

export const configUpdate = lazy(() =>
  z
    .object({ ...changeable(), workspace_id: reference.optional() })
    .refine(({ workspace_id: _, ...fields }) => Object.values(fields).some((field) => field !== undefined), {
      message: 'Send at least one field to change: name, config, status, isDefault',
    }),
);

export const configPath = lazy(() => z.object({ config: reference.describe('The id or the slug of the config') }));
export const workspaceQuery = lazy(() => z.object({ workspace_id: reference.optional() }));

const listedFields = lazy(() => ({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  organisation_id: z.string(),
  workspace_id: z.string(),
  is_default: z.union([z.literal(0), z.literal(1)]),
  status: z.enum(['active', 'archived']),
  owner_id: z.string().nullable().describe('The person who made it; null where a service key did'),
  updated_by: z.string().nullable(),
  created_at: z.string(),
  last_updated_at: z.string(),
  object: z.literal('config'),
}));

const versionFields = lazy(() => ({
  format: z.literal('json'),
  type: z.literal('ORG_CONFIG'),
  version_id: z.string(),
}));

const readConfig = lazy(() => z.record(z.string(), z.unknown()).describe('The config; credentials in it are masked'));

const listedConfig = lazy(() => z.object(listedFields()).meta({ id: 'ListedConfig' }));
export const configRecord = lazy(() =>
  z
    .object({
      success: z.literal(true),
      ...listedFields(),
      ...versionFields(),
      config: readConfig(),
      data: z.object({ config: readConfig() }),
    })
    .meta({ id: 'Config' }),
);
const configVersion = lazy(() =>
  z
    .object({
      ...listedFields(),
      ...versionFields(),
      config: z.string().describe('The config as JSON; credentials in it are masked'),
    })
    .meta({ id: 'ConfigVersion' }),
);

export const configList = lazy(() => listOf(listedConfig()).extend({ success: z.literal(true) }));
export const versionList = lazy(() => listOf(configVersion()));

const warnings = lazy(() =>
  z.array(z.string()).optional().describe('Parts of the config that can never have an effect'),
);

export const createdConfig = lazy(() =>
  z.object({
    success: z.literal(true),
    object: z.literal('config'),
    id: z.string(),
    slug: z.string(),
    version_id: z.string(),
    data: z.object({ id: z.string(), slug: z.string(), version_id: z.string() }),
    warnings: warnings(),
  }),
);

export const updatedConfig = lazy(() =>
  z.object({
    success: z.literal(true),
    object: z.literal('config'),
    version_id: z.string(),
    data: z.object({ version_id: z.string() }),
    warnings: warnings(),
  }),
);
