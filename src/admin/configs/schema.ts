/** Configs on the wire. */
import { z } from 'zod';
import { once } from '../../once.ts';
import { flag, reference } from '../kernel/fields.ts';
import { listOf } from '../kernel/paging.ts';

const name = once(() => z.string().trim().min(1).max(255));
/** As long as a body may be. */
const longestText = 1024 * 1024;

const config = once(() =>
  z
    .union([z.record(z.string().max(255), z.unknown()), z.string().min(2).max(longestText)])
    .describe('The routing config: an object, or its JSON as text'),
);

const isDefault = once(() => flag.optional().describe('Whether this is the default config of the workspace'));

export const newConfig = once(() =>
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

export const configUpdate = once(() =>
  z
    .object({ ...changeable(), workspace_id: reference.optional() })
    .refine(({ workspace_id: _, ...fields }) => Object.values(fields).some((field) => field !== undefined), {
      message: 'Send at least one field to change: name, config, status, isDefault',
    }),
);

export const configPath = once(() => z.object({ config: reference.describe('The id or the slug of the config') }));
export const workspaceQuery = once(() => z.object({ workspace_id: reference.optional() }));

const listedFields = once(() => ({
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

const versionFields = once(() => ({
  format: z.literal('json'),
  type: z.literal('ORG_CONFIG'),
  version_id: z.string(),
}));

const readConfig = once(() => z.record(z.string(), z.unknown()).describe('The config; credentials in it are masked'));

const listedConfig = once(() => z.object(listedFields()).meta({ id: 'ListedConfig' }));
export const configRecord = once(() =>
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
const configVersion = once(() =>
  z
    .object({
      ...listedFields(),
      ...versionFields(),
      config: z.string().describe('The config as JSON; credentials in it are masked'),
    })
    .meta({ id: 'ConfigVersion' }),
);

export const configList = once(() => listOf(listedConfig()).extend({ success: z.literal(true) }));
export const versionList = once(() => listOf(configVersion()));

const warnings = once(() =>
  z.array(z.string()).optional().describe('Parts of the config that can never have an effect'),
);

export const createdConfig = once(() =>
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

export const updatedConfig = once(() =>
  z.object({
    success: z.literal(true),
    object: z.literal('config'),
    version_id: z.string(),
    data: z.object({ version_id: z.string() }),
    warnings: warnings(),
  }),
);
