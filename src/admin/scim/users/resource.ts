/** A user as SCIM shows it, and what a client sends as one. */
import { z } from 'zod';
import { readJson } from '../../../bounded-json.ts';
import { type OrganisationRole, organisationRoles } from '../../../identity/roles.ts';
import { email, personName } from '../../kernel/fields.ts';
import type { ResourceKind } from '../protocol/attributes.ts';
import { invalidValue } from '../protocol/errors.ts';
import { isObject, type ScimResource } from '../protocol/patch.ts';
import type { EmailEntry, ScimUser } from './find.ts';

export interface GroupReference {
  id: string;
  name: string;
}

export function userResource(
  user: ScimUser,
  groups: readonly GroupReference[],
  { kind, base }: { kind: ResourceKind; base: string },
): ScimResource {
  const { record } = user;
  const name = {
    ...(user.firstName !== '' && { givenName: user.firstName }),
    ...(user.lastName !== '' && { familyName: user.lastName }),
  };
  const displayName = record ? record.displayName : `${user.firstName} ${user.lastName}`.trim();
  return {
    schemas: [kind.schema],
    id: user.id,
    ...(record?.externalId && { externalId: record.externalId }),
    userName: record?.userName ?? user.email,
    ...(Object.keys(name).length > 0 && { name }),
    ...(displayName && { displayName }),
    ...(record?.title && { title: record.title }),
    active: user.active,
    emails: record ? user.emails : [{ value: user.email, type: 'work', primary: true }],
    ...((record?.rolesGiven || user.role !== 'member') && { roles: [{ value: user.role }] }),
    ...(groups.length > 0 && {
      groups: groups.map(({ id, name }) => ({ value: id, $ref: `${base}/Groups/${id}`, display: name })),
    }),
    meta: {
      resourceType: 'User',
      created: user.createdAt,
      lastModified: user.lastUpdatedAt,
      location: `${base}/Users/${user.id}`,
    },
  };
}

/** The same with what only PATCH looks at: Entra finds the one role by `primary`. */
export function patchableUser(resource: ScimResource): ScimResource {
  const { roles } = resource;
  return Array.isArray(roles) ? { ...resource, roles: roles.map((role) => ({ ...role, primary: true })) } : resource;
}

export interface UserInput {
  userName: string;
  /** The address of the account. */
  email: string;
  emails: EmailEntry[];
  externalId: string | null;
  displayName: string | null;
  title: string | null;
  firstName: string;
  lastName: string;
  /** Undefined where nothing was said. */
  active: boolean | undefined;
  role: OrganisationRole | undefined;
  rolesGiven: boolean;
  /** Ids or names, where membership is written through users. */
  groups: string[] | undefined;
}

const text = (most: number) =>
  z
    .string()
    .trim()
    .max(most)
    .regex(/^\P{Cc}*$/u, 'may hold no control characters');

const schema = z.object({
  userName: text(255).min(1),
  externalId: text(255).optional(),
  name: z.object({ givenName: personName.optional(), familyName: personName.optional() }).optional(),
  displayName: text(255).optional(),
  title: text(255).optional(),
  active: z.boolean().optional(),
  emails: z
    .array(
      z.object({
        value: text(254).pipe(z.email()),
        type: text(50).optional(),
        primary: z.boolean().optional(),
      }),
    )
    .max(20)
    .optional(),
  roles: z
    .array(z.object({ value: z.string().max(2_000).optional() }))
    .max(100)
    .optional(),
  groups: z
    .array(z.object({ value: text(255).min(1) }))
    .max(1_000)
    .optional(),
});

/** `wholly`: a resource in which an absent name is made from the name that is shown. */
export function userInput(resource: ScimResource, wholly: boolean): UserInput {
  const parsed = schema.safeParse(resource);
  if (!parsed.success) {
    throw invalidValue(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '));
  }
  const sent = parsed.data;
  const emails = (sent.emails ?? []).map(({ value, type, primary }) => ({
    value,
    ...(type !== undefined && { type }),
    ...(primary !== undefined && { primary }),
  }));
  const address = email.safeParse(sent.userName);
  const other = emails.find((entry) => entry.primary)?.value ?? emails[0]?.value;
  const account = address.success ? address.data : other?.toLowerCase();
  if (account === undefined) throw invalidValue('userName is no e-mail address, so emails must hold one');
  const split = wholly && !sent.name ? splitName(sent.displayName ?? '') : { givenName: '', familyName: '' };
  return {
    userName: sent.userName,
    email: account,
    emails: emails.length > 0 ? emails : [{ value: account, type: 'work', primary: true }],
    externalId: sent.externalId || null,
    displayName: sent.displayName || null,
    title: sent.title || null,
    firstName: sent.name?.givenName ?? split.givenName,
    lastName: sent.name?.familyName ?? split.familyName,
    active: sent.active,
    ...rolesIn(sent.roles),
    groups: sent.groups?.map(({ value }) => value),
  };
}

function splitName(shown: string) {
  const [givenName = '', ...rest] = shown.trim().split(/\s+/);
  return { givenName: givenName.slice(0, 100), familyName: rest.join(' ').slice(0, 100) };
}

/** The highest of the roles that are named. An empty list is nobody's role, so that of a member. */
function rolesIn(roles: readonly { value?: string | undefined }[] | undefined): Pick<UserInput, 'role' | 'rolesGiven'> {
  if (roles === undefined) return { role: undefined, rolesGiven: false };
  const words = roles.flatMap(({ value }) => (value === undefined ? [] : roleWords(value)));
  const named = words.filter((word) => word !== 'group');
  // Nothing but the marker of an assignment by group says nothing about the role.
  if (named.length === 0 && words.length > 0) return { role: undefined, rolesGiven: false };
  return {
    role: organisationRoles.find((role) => named.includes(role)) ?? 'member',
    rolesGiven: named.length > 0,
  };
}

/** Entra may send a role as the JSON text of an object that has it as its value. */
function roleWords(text: string): string[] {
  const trimmed = text.trim();
  if (!/^[[{]/.test(trimmed)) return trimmed === '' ? [] : [trimmed.toLowerCase()];
  let value: unknown;
  try {
    value = readJson(trimmed);
  } catch {
    throw invalidValue('roles: holds JSON that cannot be read');
  }
  return (Array.isArray(value) ? value : [value]).flatMap((entry) => {
    const word = isObject(entry) ? entry.value : entry;
    return typeof word === 'string' ? [word.trim().toLowerCase()] : [];
  });
}
