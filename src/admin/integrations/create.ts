/** Making an integration: of the organisation, or of one workspace with a provider to use it at once. */
import { conflict, invalid } from '../../http/errors.ts';
import { actorId, type Caller } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import { endpoint, type NamedWorkspace } from '../kernel/endpoint.ts';
import { insertProvider } from '../providers/insert.ts';
import { catalogChange, integrationAccess, requireIntegrationScope } from './access.ts';
import { canonicalProviderId, checkCredentials } from './credentials.ts';
import { insertIntegration, sealConfigurations, sealKey } from './insert.ts';
import { unmasked } from './masking.ts';
import { createdIntegration, newIntegration } from './schema.ts';
import { storedMappings } from './secret-mappings.ts';
import { freeProviderSlug, isIntegrationSlugTaken, isProviderSlugTaken, newIntegrationSlug } from './slugs.ts';

export const createIntegration = endpoint({
  method: 'POST',
  path: '/integrations',
  tag: 'Integrations',
  summary: 'Make an integration: one set of credentials for a provider',
  description:
    'Without workspace_id it belongs to the organisation and is handed to workspaces by PUT /integrations/{integration}/workspaces. With it, it belongs to that workspace and comes with a provider. A provider that we do not know is taken for an OpenAI-compatible one when configurations.custom_host says where it is.',
  access: integrationAccess('create'),
  audit: { resource: 'integration', action: 'create' },
  body: newIntegration,
  reply: createdIntegration,
  async handle({ caller, workspace, body, db, now, services, changed, note }) {
    const { vault, settings } = services;
    const workspaceId = placeFor(caller, workspace);
    const aiProviderId = canonicalProviderId(body.ai_provider_id);
    const { organisationId } = caller;
    const mappings = await storedMappings(db, { organisationId, workspaceId }, body.secret_mappings ?? []);
    const configurations = checkCredentials(
      {
        aiProviderId,
        configurations: unmasked(body.configurations ?? {}, {}),
        hasKey: Boolean(body.key),
        mappings,
      },
      settings.trustedHosts,
    );
    if (body.slug && (await isIntegrationSlugTaken(db, organisationId, body.slug))) {
      throw conflict(`The slug ${body.slug} is taken by another integration, perhaps a deleted one; choose another`);
    }
    const slug = body.slug ?? (await newIntegrationSlug(db, organisationId, body.name));
    const id = await insertIntegration(db, now, {
      organisationId,
      workspaceId,
      aiProviderId,
      slug,
      name: body.name,
      description: body.description || null,
      keySealed: sealKey(vault, body.key),
      configurationsSealed: sealConfigurations(vault, configurations),
      secretMappings: mappings,
      tags: body.tags ?? null,
      pricingAdjustments: body.pricing_adjustments ?? null,
      allowAllModels: body.allow_all_models,
      createdBy: actorId(caller),
    });
    if (workspaceId !== null && body.create_default_provider) {
      await insertProvider(db, now, {
        organisationId,
        workspaceId,
        integrationId: id,
        slug: await defaultProviderSlug(db, workspaceId, body.default_provider_slug ?? null, slug),
        name: body.name,
        createdBy: actorId(caller),
      });
    }
    changed(catalogChange({ organisation_id: organisationId, workspace_id: workspaceId }));
    note({
      resourceId: id,
      ...(workspaceId !== null && { workspaceId }),
      details: { slug, ai_provider_id: aiProviderId, type: workspaceId === null ? 'organisation' : 'workspace' },
    });
    return { object: 'integration' as const, id, slug };
  },
});

/** The workspace that the integration goes to; null: the organisation. */
function placeFor(caller: Caller, workspace: NamedWorkspace | null): string | null {
  if (workspace?.status === 'archived') {
    throw invalid('workspace_id', 'names an archived workspace, which takes no new integrations');
  }
  const workspaceId = workspace?.id ?? null;
  requireIntegrationScope(caller, workspaceId, 'create');
  return workspaceId;
}

/** A slug that was asked for must be free; one that is derived from the integration is replaced by a free one. */
export async function defaultProviderSlug(
  db: Db,
  workspaceId: string,
  asked: string | null,
  otherwise: string,
  path = 'default_provider_slug',
): Promise<string> {
  if (asked === null) return freeProviderSlug(db, workspaceId, otherwise);
  if (await isProviderSlugTaken(db, workspaceId, asked)) {
    throw invalid(path, `is taken by another provider of the workspace, perhaps a deleted one: ${asked}`);
  }
  return asked;
}
