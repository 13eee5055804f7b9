/** Handing integrations of the organisation to workspaces. */

import { z } from 'zod';
import { ApiError } from '../../http/errors.ts';
import { actorId, type Caller } from '../../identity/caller.ts';
import { shownUsageLimit } from '../../limits/entries.ts';
import type { Db } from '../../store/database.ts';
import { decode, encode } from '../../store/json.ts';
import type { IntegrationTable } from '../../store/tables/catalog.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { empty, search } from '../kernel/fields.ts';
import { countOf, holdsInAnyCase } from '../kernel/lists/list-queries.ts';
import { catalogChange, reachIntegration } from './access.ts';
import { limitsOf, listedChanges, overridden, savedGlobalAccess } from './grant-changes.ts';
import { changedGrant, ensureDefaultProvider, grantsOf, saveGrant } from './grants.ts';
import { globalAccessOf } from './record.ts';
import { integrationPath } from './schema.ts';
import {
  type grantRecord,
  overrides,
  workspacesList,
  workspacesPaging,
  workspacesUpdate,
} from './workspaces-schema.ts';

const tag = 'Integrations';
const path = '/integrations/:integration/workspaces';
const callers = ['admin-key', 'session'] as const;

const listWorkspaces = endpoint({
  method: 'GET',
  path,
  tag,
  summary: 'List the workspaces that an integration of the organisation was handed to',
  access: { callers, scope: 'organisation_integrations.read', level: 'organisation' },
  params: integrationPath,
  query: () => z.object({ search: search('the name or the slug of the workspace') }),
  paging: workspacesPaging,
  reply: workspacesList,
  async handle({ caller, params, query, page, db, services }) {
    await services.limits.flush();
    const integration = await organisationIntegration(db, caller, params.integration, 'read');
    const grants = db
      .selectFrom('integration_workspaces as grant')
      .innerJoin('workspaces as workspace', 'workspace.id', 'grant.workspace_id')
      .where('grant.integration_id', '=', integration.id)
      .where('workspace.status', '=', 'active')
      .$if(query.search !== undefined, (found) =>
        found.where((eb) =>
          eb.or([
            holdsInAnyCase(eb.ref('workspace.name'), query.search ?? ''),
            holdsInAnyCase(eb.ref('workspace.slug'), query.search ?? ''),
          ]),
        ),
      );
    const total = await countOf(grants);
    const rows = await grants
      .selectAll('grant')
      .select('workspace.slug')
      .orderBy('grant.created_at', 'desc')
      .orderBy('grant.workspace_id', 'desc')
      .limit(page.size)
      .offset(page.offset)
      .execute();
    const workspaces = rows.map((row): z.output<ReturnType<typeof grantRecord>> => {
      const rates = decode(row.rate_limits);
      return {
        id: row.slug,
        enabled: row.enabled === 1,
        usage_limits: row.usage_limits && [shownUsageLimit(decode(row.usage_limits))],
        rate_limits: rates.length > 0 ? rates : null,
        status: row.status,
        last_reset_at: row.last_reset_at,
      };
    });
    return { total, workspaces, global_workspace_access: globalAccessOf(integration) };
  },
});

const setWorkspaces = endpoint({
  method: 'PUT',
  path,
  tag,
  summary: 'Hand an integration of the organisation to workspaces, or take it from them',
  description:
    'Workspaces that are newly enabled get a provider. A workspace that is disabled keeps its providers, which requests can no longer use. The limits of a workspace hold for all its providers of the integration together.',
  access: { callers, scope: 'organisation_integrations.update', level: 'organisation' },
  audit: { resource: 'integration', action: 'update' },
  params: integrationPath,
  body: workspacesUpdate,
  reply: empty,
  async handle({ caller, params, body, db, now, changed, note }) {
    const integration = await organisationIntegration(db, caller, params.integration, 'update');
    const global = savedGlobalAccess(integration, body, now);
    await db
      .updateTable('integrations')
      .set({
        ...(body.global_workspace_access && { global_workspace_access: encode(global) }),
        last_updated_at: now.toISOString(),
      })
      .where('id', '=', integration.id)
      .execute();
    const changes = await listedChanges(db, caller.organisationId, body);
    const override = overrides(body);
    const grants = await grantsOf(db, integration.id);
    for (const change of override ? [...changes, ...overridden(grants.values(), changes, body)] : changes) {
      const before = grants.get(change.workspaceId) ?? null;
      const limits = override && body.global_workspace_access ? limitsOf(global, now) : {};
      await saveGrant(db, before, changedGrant(integration.id, before, { ...limits, ...change }, now));
      if (!change.enabled || before?.enabled === 1 || !change.provider) continue;
      await ensureDefaultProvider(db, now, integration, change.workspaceId, {
        ...change.provider,
        createdBy: actorId(caller),
      });
    }
    changed(catalogChange(integration));
    note({
      resourceId: integration.id,
      details: {
        slug: integration.slug,
        workspaces: changes.map((change) => ({ id: change.workspaceId, enabled: change.enabled })),
        override_existing_workspace_access: override,
      },
    });
    return {};
  },
});

async function organisationIntegration(
  db: Db,
  caller: Caller,
  reference: string,
  action: 'read' | 'update',
): Promise<IntegrationTable> {
  const integration = await reachIntegration(db, caller, reference, action);
  if (integration.workspace_id !== null) {
    throw new ApiError(
      'AB01',
      'This integration belongs to one workspace; only those of the organisation are handed out',
    );
  }
  return integration;
}

export const workspaceEndpoints = [listWorkspaces, setWorkspaces];
