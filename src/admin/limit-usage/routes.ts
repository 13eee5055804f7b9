/** What is used of the limits that keys, workspaces, providers and integrations carry. Policies tell it by their entities. */
import { entityLimits, grantEntity } from '../../limits/entity-limits.ts';
import { decode } from '../../store/json.ts';
import { byIdAccess, reachKey } from '../api-keys/access.ts';
import { keyPath } from '../api-keys/schema.ts';
import { integrationAccess, reachIntegration } from '../integrations/access.ts';
import { integrationPath, workspaceQuery } from '../integrations/schema.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { countOf } from '../kernel/lists/list-queries.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import { providerAccess, reachProvider, requireWorkspace } from '../providers/access.ts';
import { providerPath } from '../providers/schema.ts';
import { workspaceRow } from '../workspaces/row.ts';
import { inWorkspace } from '../workspaces/schema.ts';
import { grantUsageRecord, limitUsageRecord, usageOf } from './record.ts';

const tag = 'Limit usage';
const paging = { size: 50, max: 100 };

const usageOfKey = endpoint({
  method: 'GET',
  path: '/api-keys/:apiKeyId/usage',
  aliases: ['/api_keys/:apiKeyId/usage'],
  tag,
  summary: 'Read what is used of the limits of a key',
  access: byIdAccess('read'),
  params: keyPath,
  paging,
  reply: () => listOf(limitUsageRecord()),
  async handle({ caller, params, page, db, services }) {
    const key = await reachKey(db, caller, params.apiKeyId, 'read');
    const carrier = {
      organisationId: key.organisation_id,
      scope: 'api_key' as const,
      entityId: key.id,
      name: key.name,
    };
    const usage = key.usage_limits === null ? [] : [decode(key.usage_limits)];
    const limits = await usageOf(services, entityLimits(carrier, decode(key.rate_limits), usage));
    return asList(limits.slice(page.offset, page.offset + page.size), limits.length);
  },
});

const usageOfWorkspace = endpoint({
  method: 'GET',
  path: '/admin/workspaces/:workspaceId/usage',
  aliases: ['/workspaces/:workspaceId/usage'],
  tag,
  summary: 'Read what is used of the limits of a workspace',
  access: {
    callers: ['admin-key', 'session', 'workspace-key', 'user-key'],
    scope: 'workspaces.read',
    level: 'workspace',
  },
  params: inWorkspace,
  paging,
  reply: () => listOf(limitUsageRecord()),
  async handle({ workspace, page, db, services }) {
    const row = await workspaceRow(db, workspace);
    const carrier = {
      organisationId: row.organisation_id,
      scope: 'workspace' as const,
      entityId: row.id,
      name: row.slug,
    };
    const carried = entityLimits(carrier, decode(row.rate_limits), decode(row.usage_limits));
    const limits = await usageOf(services, carried);
    return asList(limits.slice(page.offset, page.offset + page.size), limits.length);
  },
});

const usageOfProvider = endpoint({
  method: 'GET',
  path: '/providers/:provider/usage',
  tag,
  summary: 'Read what is used of the limits of a provider',
  access: providerAccess('read'),
  params: providerPath,
  query: workspaceQuery,
  paging,
  reply: () => listOf(limitUsageRecord()),
  async handle({ caller, workspace, params, page, db, services }) {
    const { provider } = await reachProvider(db, caller, requireWorkspace(workspace), params.provider, 'read');
    const carrier = {
      organisationId: provider.organisation_id,
      scope: 'provider' as const,
      entityId: provider.id,
      name: provider.slug,
    };
    const usage = provider.usage_limits === null ? [] : [decode(provider.usage_limits)];
    const limits = await usageOf(services, entityLimits(carrier, decode(provider.rate_limits), usage));
    return asList(limits.slice(page.offset, page.offset + page.size), limits.length);
  },
});

const usageOfIntegration = endpoint({
  method: 'GET',
  path: '/integrations/:integration/usage',
  tag,
  summary: 'Read what is used of the limits of an integration, by the workspace that it was handed to',
  description: 'A page holds the limits of so many workspaces; workspaces without limits are left out.',
  access: integrationAccess('read'),
  params: integrationPath,
  paging,
  reply: () => listOf(grantUsageRecord()),
  async handle({ caller, params, page, db, services }) {
    const integration = await reachIntegration(db, caller, params.integration, 'read');
    const limited = db
      .selectFrom('integration_workspaces as grant')
      .innerJoin('workspaces as workspace', 'workspace.id', 'grant.workspace_id')
      .where('grant.integration_id', '=', integration.id)
      .where('workspace.status', '=', 'active')
      .where((eb) => eb.or([eb('grant.usage_limits', 'is not', null), eb('grant.rate_limits', 'like', '[{%')]));
    const grants = await limited
      .select(['grant.workspace_id', 'workspace.slug', 'grant.rate_limits', 'grant.usage_limits'])
      .orderBy('grant.created_at', 'desc')
      .orderBy('grant.workspace_id', 'desc')
      .limit(page.size)
      .offset(page.offset)
      .execute();
    const owned = grants.flatMap(({ workspace_id, slug, rate_limits, usage_limits }) => {
      const carrier = {
        organisationId: integration.organisation_id,
        scope: 'integration' as const,
        entityId: grantEntity(integration.id, workspace_id),
        name: integration.slug,
      };
      const usage = usage_limits === null ? [] : [decode(usage_limits)];
      const carried = entityLimits(carrier, decode(rate_limits), usage);
      return carried.map((limit) => ({ limit, workspace_id, workspace_slug: slug }));
    });
    const states = await usageOf(
      services,
      owned.map(({ limit }) => limit),
    );
    const records = owned.flatMap(({ workspace_id, workspace_slug }, index) => {
      const used = states[index];
      return used ? [{ ...used, workspace_id, workspace_slug }] : [];
    });
    return asList(records, await countOf(limited));
  },
});

export const limitUsageResource: Resource = {
  name: 'limit-usage',
  endpoints: [usageOfKey, usageOfWorkspace, usageOfProvider, usageOfIntegration],
};
