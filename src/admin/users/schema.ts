/** Users of an organisation on the wire. */
import { z } from 'zod';
import { organisationRoles } from '../../identity/roles.ts';
import { lazy } from '../../lazy.ts';
import { email, id, search, timestamp } from '../kernel/fields.ts';

export const userParams = lazy(() => z.object({ userId: id }));

export const userFilters = lazy(() =>
  z.object({
    role: z.enum(organisationRoles).optional(),
    email: email.optional().describe('The whole address, in any case'),
    search: search('the name or the address'),
    status: z.enum(['active', 'archived']).default('active'),
  }),
);

const ownerByTransfer = 'must be admin or member; owners are made by transferring ownership';

export const userUpdate = lazy(() =>
  z.object({
    role: z.enum(['admin', 'member'], {
      error: (issue) => (issue.input === 'owner' ? ownerByTransfer : undefined),
    }),
  }),
);

export const userListed = lazy(() =>
  z.object({
    object: z.literal('user'),
    id: z.string(),
    first_name: z.string(),
    last_name: z.string(),
    email: z.string(),
    role: z.enum(organisationRoles),
    status: z.enum(['active', 'archived']),
    provisioned_by: z.enum(['invite', 'sso', 'scim', 'signup']),
    last_login_at: timestamp.nullable(),
    created_at: timestamp,
    last_updated_at: timestamp,
    updated_at: timestamp.describe('The same moment as last_updated_at'),
  }),
);

export const userRead = lazy(() =>
  userListed().extend({
    workspace_ids: z.array(z.string()).describe('Slugs of the workspaces that the person may enter'),
  }),
);
