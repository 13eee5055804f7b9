/** Integrations: the credentials with which the gateway calls providers. */
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { catalogChange, integrationAccess, reachIntegration } from './access.ts';
import { archiveIntegrations } from './archive.ts';
import { createIntegration } from './create.ts';
import { listIntegrations } from './list.ts';
import { modelEndpoints } from './models-routes.ts';
import { integrationRecordOf } from './record.ts';
import { integrationPath, integrationRecord, workspaceQuery } from './schema.ts';
import { updateIntegration } from './update.ts';
import { workspaceEndpoints } from './workspaces-routes.ts';

const tag = 'Integrations';

const readIntegration = endpoint({
  method: 'GET',
  path: '/integrations/:integration',
  tag,
  summary: 'Read an integration; its credentials are masked',
  access: integrationAccess('read'),
  params: integrationPath,
  query: workspaceQuery,
  reply: integrationRecord,
  async handle({ caller, params, db, services }) {
    const row = await reachIntegration(db, caller, params.integration, 'read');
    return integrationRecordOf(db, services.vault, row);
  },
});

const deleteIntegration = endpoint({
  method: 'DELETE',
  path: '/integrations/:integration',
  tag,
  summary: 'Delete an integration together with its providers in every workspace',
  access: integrationAccess('delete'),
  audit: { resource: 'integration', action: 'delete' },
  params: integrationPath,
  query: workspaceQuery,
  reply: empty,
  async handle({ caller, params, db, now, changed, note }) {
    const row = await reachIntegration(db, caller, params.integration, 'delete');
    await archiveIntegrations(db, now, [row.id]);
    changed(catalogChange(row));
    note({
      resourceId: row.id,
      ...(row.workspace_id !== null && { workspaceId: row.workspace_id }),
      details: { slug: row.slug, name: row.name },
    });
    return {};
  },
});

export const integrationsResource: Resource = {
  name: 'integrations',
  savesAddresses: true,
  endpoints: [
    createIntegration,
    listIntegrations,
    readIntegration,
    updateIntegration,
    deleteIntegration,
    ...modelEndpoints,
    ...workspaceEndpoints,
  ],
};
