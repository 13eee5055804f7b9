/** Invites on the wire. */
import { z } from 'zod';
import { passwordSchema } from '../../identity/passwords.ts';
import { workspaceRoleSchema, workspaceRoles } from '../../identity/roles.ts';
import { grantableTo, parseScope } from '../../identity/scopes.ts';
import { lazy } from '../../lazy.ts';
import { email, id, personName, reference, search, timestamp } from '../kernel/fields.ts';

const invitedRoles = ['admin', 'member'] as const;
const inviteStatuses = ['pending', 'accepted', 'cancelled', 'expired'] as const;

export const inviteParams = lazy(() => z.object({ inviteId: id }));

export const inviteFilters = lazy(() =>
  z.object({
    role: z.enum(invitedRoles).optional(),
    email: email.optional().describe('The whole address, in any case'),
    search: search('the address'),
    status: z.enum(inviteStatuses).optional(),
  }),
);

const ownerByTransfer = 'must be admin or member; owners are made by transferring ownership';

const grantable = new Set(grantableTo('U'));
const userKeyScope = () =>
  z
    .string()
    .max(100)
    .transform((text, context) => {
      const scope = parseScope(text);
      if (scope && grantable.has(scope)) return scope;
      context.addIssue({ code: 'custom', message: `${text} is not a scope that a user key may hold` });
      return z.NEVER;
    });

export const inviteBody = lazy(() =>
  z.object({
    email,
    role: z.enum(invitedRoles, { error: (issue) => (issue.input === 'owner' ? ownerByTransfer : undefined) }),
    workspaces: z
      .array(
        z.object({
          id: reference.describe('Id or slug of the workspace'),
          role: workspaceRoleSchema().default('member'),
        }),
      )
      .max(100)
      .nullish(),
    workspace_api_key_details: z
      .object({
        scopes: z
          .array(userKeyScope())
          .min(1)
          .max(200)
          .transform((scopes) => [...new Set(scopes)]),
      })
      .nullish()
      .describe('Makes one user key with these scopes in each invited workspace, on acceptance'),
  }),
);

export const inviteRecord = lazy(() =>
  z.object({
    object: z.literal('invite'),
    id: z.string(),
    email: z.string(),
    role: z.enum(invitedRoles),
    status: z.enum(inviteStatuses),
    workspaces: z.array(
      z.object({
        id: z.string(),
        workspace_id: z.string().describe('The same value as id'),
        role: z.enum(workspaceRoles),
      }),
    ),
    invited_by: z.string().describe('The user, or the API key, that made the invite'),
    created_at: timestamp,
    expires_at: timestamp,
    accepted_at: timestamp.nullable(),
  }),
);

export const linkReplies = {
  create: lazy(() => z.object({ id: z.string(), invite_link: z.string() })),
  // Clients of the reference product read the second spelling here.
  resend: lazy(() => z.object({ invite_link: z.string(), inviteLink: z.string() })),
};

/** The form of a token; anything else in its place names nothing. */
export const linkParams = lazy(() => z.object({ token: z.string().regex(/^[\w-]{1,100}$/) }));

export const linkRead = lazy(() =>
  z.object({
    object: z.literal('invite'),
    organisation_name: z.string(),
    email: z.string(),
    status: z.enum(['pending', 'accepted']),
    expires_at: timestamp,
    requires_sso: z.boolean(),
    requires_sign_in: z.boolean().describe('True when the address is proven: its owner must sign in to accept'),
    has_account: z.boolean().describe('True when the address has an account, whose password may be used here too'),
  }),
);

export const acceptBody = lazy(() =>
  z.object({
    password: passwordSchema()
      .optional()
      .describe('For callers who are not signed in: the password of the account, which is made if there is none'),
    first_name: personName.min(1).optional(),
    last_name: personName.min(1).optional(),
  }),
);

export const acceptReply = lazy(() => z.object({ organisation_id: z.string(), user_id: z.string() }));
