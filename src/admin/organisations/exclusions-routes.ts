/** Which workspaces are excluded from the organisation's default guardrails, for each direction. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import type { GuardrailDirection } from '../../store/schema.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { empty, id, reference, search } from '../kernel/fields.ts';
import { countOf, oneHoldsInAnyCase } from '../kernel/lists/list-queries.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import { changeExclusions } from './exclusions.ts';

const tag = 'Workspace exclusions';

const excludedWorkspace = lazy(() =>
  z.object({
    workspace_id: z.string(),
    slug: z.string(),
    name: z.string(),
    excluded: z.literal(true),
  }),
);

const listExcluded = (direction: GuardrailDirection) =>
  endpoint({
    method: 'GET',
    path: `/workspace-exclusions/${direction}-guardrails`,
    tag,
    summary: `List the workspaces that the organisation's default ${direction} guardrails leave alone`,
    access: { callers: ['admin-key', 'session'], scope: 'organisation_exclusions.list', level: 'organisation' },
    query: () => z.object({ organisation_id: id.optional(), search: search('the name or the slug') }),
    paging: { size: 100, max: 1000 },
    reply: () => listOf(excludedWorkspace()),
    async handle({ db, caller, query, page }) {
      const part = query.search;
      const excluded = db
        .selectFrom('guardrail_exclusions as exclusion')
        .innerJoin('workspaces as workspace', 'workspace.id', 'exclusion.workspace_id')
        .where('exclusion.organisation_id', '=', caller.organisationId)
        .where('exclusion.direction', '=', direction)
        .where('workspace.status', '=', 'active')
        .where((eb) =>
          part === undefined
            ? eb.lit(true)
            : oneHoldsInAnyCase(part, eb.ref('workspace.name'), eb.ref('workspace.slug')),
        );
      const total = await countOf(excluded);
      const rows = await excluded
        .select(['workspace.id', 'workspace.slug', 'workspace.name'])
        .orderBy('exclusion.created_at', 'desc')
        .orderBy('exclusion.workspace_id', 'desc')
        .limit(page.size)
        .offset(page.offset)
        .execute();
      return asList(
        rows.map(({ id, slug, name }) => ({ workspace_id: id, slug, name, excluded: true as const })),
        total,
      );
    },
  });

const update = (direction: GuardrailDirection) =>
  endpoint({
    method: 'PUT',
    path: `/workspace-exclusions/${direction}-guardrails`,
    tag,
    summary: `Exclude workspaces from the organisation's default ${direction} guardrails, or include them again`,
    access: { callers: ['admin-key', 'session'], scope: 'organisation_exclusions.update', level: 'organisation' },
    audit: { resource: 'workspace', action: 'update' },
    body: () =>
      z.object({
        organisation_id: id.optional(),
        workspaces: z.array(z.object({ workspace_id: reference, excluded: z.boolean() })).max(1000),
        override_existing: z
          .boolean()
          .default(false)
          .describe('True: the list is replaced by this one; false: it is merged with it'),
      }),
    reply: empty,
    async handle({ db, now, body, caller, changed, note }) {
      const change = await changeExclusions(db, now, caller.organisationId, direction, body);
      for (const id of [...change.excluded, ...change.included]) changed({ topic: 'workspace', id });
      note({ details: { [`${direction}_guardrails`]: change } });
      return {};
    },
  });

export const exclusionEndpoints = [listExcluded('input'), update('input'), listExcluded('output'), update('output')];
