/** A group as SCIM shows it, and what a client sends as one. */
import { z } from 'zod';
import type { ScimGroupTable } from '../../../store/tables/scim.ts';
import type { ResourceKind } from '../protocol/attributes.ts';
import { invalidValue } from '../protocol/errors.ts';
import type { ScimResource } from '../protocol/patch.ts';

export const groupResource = (
  group: ScimGroupTable,
  members: readonly string[],
  { kind, base }: { kind: ResourceKind; base: string },
): ScimResource => ({
  schemas: [kind.schema],
  id: group.id,
  ...(group.external_id && { externalId: group.external_id }),
  displayName: group.display_name,
  ...(members.length > 0 && {
    members: members.map((id) => ({ value: id, $ref: `${base}/Users/${id}`, type: 'User' })),
  }),
  meta: {
    resourceType: 'Group',
    created: group.created_at,
    lastModified: group.last_updated_at,
    location: `${base}/Groups/${group.id}`,
  },
});

export interface GroupInput {
  displayName: string;
  externalId: string | null;
  members: string[];
}

const oneLine = (most: number) =>
  z
    .string()
    .trim()
    .max(most)
    .regex(/^\P{Cc}*$/u, 'may hold no control characters');

const schema = z.object({
  displayName: oneLine(255).min(1),
  externalId: oneLine(255).optional(),
  members: z
    .array(z.object({ value: z.string().min(1).max(255) }))
    .max(50_000)
    .optional(),
});

export function groupInput(resource: ScimResource): GroupInput {
  const parsed = schema.safeParse(resource);
  if (!parsed.success) {
    const faults = parsed.error.issues.slice(0, 10).map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw invalidValue(faults.join('; '));
  }
  const { displayName, externalId, members = [] } = parsed.data;
  return { displayName, externalId: externalId || null, members: [...new Set(members.map(({ value }) => value))] };
}
