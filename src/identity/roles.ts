/** The roles of people, in the organisation and in a workspace, and their order. */
import { z } from 'zod';
import { lazy } from '../lazy.ts';

export const organisationRoles = ['owner', 'admin', 'member'] as const;
export type OrganisationRole = (typeof organisationRoles)[number];

export const workspaceRoles = ['admin', 'manager', 'member'] as const;
export type WorkspaceRole = (typeof workspaceRoles)[number];

/** Organisation owners and admins are workspace admins everywhere, without a membership row. */
export const runsOrganisation = (role: OrganisationRole): boolean => role !== 'member';

/** True when `role` stands above `other`; nobody grants a role above their own. */
export const outranks = (role: WorkspaceRole, other: WorkspaceRole): boolean =>
  workspaceRoles.indexOf(role) < workspaceRoles.indexOf(other);

/** A workspace role as clients write it: any case, with or without the `ws-` prefix. */
export const workspaceRoleSchema = lazy(() =>
  z
    .string()
    .max(20)
    .transform((text) => text.trim().toLowerCase().replace(/^ws-/, ''))
    .pipe(z.enum(workspaceRoles))
    .meta({ enum: [...workspaceRoles], type: 'string' }),
);
