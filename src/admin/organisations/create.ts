/** Makes an organisation with everything a new one has: its shared workspace with the sandbox provider, its owner, its first admin key. */
import { grantableTo } from '../../identity/scopes.ts';
import { defaultSettings } from '../../identity/settings.ts';
import type { Db } from '../../store/database.ts';
import { encode } from '../../store/json.ts';
import { mintKey } from '../api-keys/mint.ts';
import { insertSandbox } from '../integrations/sandbox.ts';
import { slugOf } from '../kernel/slug.ts';
import { joinOrganisation } from '../users/membership.ts';
import { insertWorkspace } from '../workspaces/create.ts';

interface NewOrganisation {
  name: string;
  ownerId: string;
  adminKey: { prefix: string } | { chosen: string };
}

interface CreatedOrganisation {
  organisationId: string;
  workspaceId: string;
  adminKey: { id: string; secret: string };
}

const sharedWorkspaceName = 'Shared Team Workspace';

export async function createOrganisation(
  db: Db,
  now: Date,
  organisation: NewOrganisation,
): Promise<CreatedOrganisation> {
  const organisationId = Bun.randomUUIDv7();
  const at = now.toISOString();
  await db
    .insertInto('organisations')
    .values({
      id: organisationId,
      name: organisation.name,
      slug: slugOf('', organisation.name),
      default_workspace_id: null,
      default_jwt_workspace_id: null,
      gateway_url: null,
      mcp_gateway_url: null,
      kms_key_arn: null,
      settings: encode(defaultSettings),
      workspace_overrides: encode({}),
      properties: encode({ api_key_metadata_schema: null, workspace_metadata_schema: null }),
      defaults: encode({ input_guardrails: [], output_guardrails: [] }),
      status: 'active',
      created_at: at,
      last_updated_at: at,
    })
    .execute();
  await joinOrganisation(db, now, {
    organisationId,
    userId: organisation.ownerId,
    role: 'owner',
    provisionedBy: 'signup',
  });
  const workspaceId = await insertWorkspace(db, now, {
    organisationId,
    name: sharedWorkspaceName,
    isDefault: true,
    createdBy: organisation.ownerId,
  });
  await db
    .updateTable('organisations')
    .set({ default_workspace_id: workspaceId })
    .where('id', '=', organisationId)
    .execute();
  await insertSandbox(db, now, { organisationId, workspaceId, createdBy: organisation.ownerId });
  const adminKey = await mintKey(
    db,
    now,
    {
      organisationId,
      workspaceId: null,
      userId: null,
      type: 'organisation-service',
      name: 'First admin key',
      creationMode: 'auto',
      scopes: grantableTo('A'),
      createdBy: organisation.ownerId,
    },
    organisation.adminKey,
  );
  return { organisationId, workspaceId, adminKey };
}
