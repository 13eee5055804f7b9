/** Forking: a prompt or partial of one's own from one that can be read, with a history that begins anew. */
import { z } from 'zod';
import { forbidden, invalid } from '../../http/errors.ts';
import { actorId } from '../../identity/caller.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import type { Vault } from '../../store/vault.ts';
import { collectionIn } from '../collections/access.ts';
import { defaultCollectionOf } from '../collections/default.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { reference } from '../kernel/fields.ts';
import { partialsBehind } from '../prompt-partials/graph.ts';
import {
  type ItemRow,
  isSharedWith,
  promptAccess,
  promptsChanged,
  reachItem,
  requireDestination,
  type Seeker,
} from './access.ts';
import { contentOf } from './content.ts';
import { createdPrompt, itemName, promptPath } from './schema.ts';
import { insertPrompt, versionRow } from './store.ts';
import { partialsOfPrompt } from './used-partials.ts';

export const forkBody = lazy(() =>
  z.object({
    workspace_id: reference.optional().describe('Where the fork goes; admin keys and sessions must say it'),
    name: itemName().optional(),
    collection_id: reference.optional().describe('Without it: the default collection of the workspace'),
  }),
);

export const forkPrompt = endpoint({
  method: 'POST',
  path: '/prompts/:prompt/fork',
  tag: 'Prompts',
  summary: 'Make a prompt of one’s own from a prompt that is shared or one’s own',
  access: promptAccess('create'),
  audit: { resource: 'prompt', action: 'duplicate' },
  params: promptPath,
  body: forkBody,
  bodyRequired: false,
  reply: createdPrompt,
  async handle(call) {
    const { caller, db, now, body, services, changed, note } = call;
    const workspaceId = requireDestination(call.workspace);
    const row = await reachSource(call, 'prompt', call.params.prompt, workspaceId);
    const version = await versionRow(db, row, { by: 'published' });
    const content = contentOf(services.vault, version);
    await requirePartials(db, services.vault, row, workspaceId);
    const made = await insertPrompt(db, services.vault, now, {
      organisationId: caller.organisationId,
      workspaceId,
      collectionId: await placeOf(db, workspaceId, body.collection_id),
      name: body.name ?? row.name,
      description: `Forked from ${row.slug}, version ${version.version}`,
      content: { ...content, provider: await providerFor(db, row, content.provider, workspaceId) },
      createdBy: actorId(caller),
    });
    changed(promptsChanged(workspaceId));
    note({ resourceId: made.id, workspaceId, details: { slug: made.slug, forked_from: row.slug } });
    return { id: made.id, slug: made.slug, version_id: made.versionId, object: 'prompt' as const };
  },
});

/** The workspace that the call names is where the fork goes, not where its source lies. */
export async function reachSource(
  { caller, db }: Seeker,
  kind: 'prompt' | 'partial',
  reference: string,
  workspaceId: string,
): Promise<ItemRow> {
  const destination = { id: workspaceId, slug: '', status: 'active' as const };
  const anywhere = caller.kind === 'session' || caller.workspaceId === null ? null : destination;
  return (await reachItem({ caller, db, workspace: anywhere }, kind, reference, 'read')).row;
}

export const placeOf = async (db: Db, workspaceId: string, collection: string | undefined): Promise<string> =>
  collection === undefined
    ? defaultCollectionOf(db, workspaceId)
    : (await collectionIn(db, workspaceId, collection, 'collection_id')).id;

/** The destination's own provider of the integration that the prompt runs on. */
async function providerFor(db: Db, row: ItemRow, slug: string, workspaceId: string): Promise<string> {
  if (row.workspace_id === workspaceId) return slug;
  const found = await db
    .selectFrom('providers as source')
    .innerJoin('providers as own', 'own.integration_id', 'source.integration_id')
    .select('own.slug')
    .where('source.workspace_id', '=', row.workspace_id)
    .where('source.slug', '=', slug)
    .where('own.workspace_id', '=', workspaceId)
    .where('own.status', '!=', 'archived')
    .orderBy('own.created_at')
    .execute();
  const own = found.find((provider) => provider.slug === slug) ?? found[0];
  if (own) return own.slug;
  throw forbidden(`The workspace has no provider of the integration behind ${slug}, which this prompt runs on`);
}

/** A fork goes on using the partials of its source, so they must be open to its workspace. */
async function requirePartials(db: Db, vault: Vault, row: ItemRow, workspaceId: string): Promise<void> {
  if (row.workspace_id === workspaceId) return;
  const references = await partialsOfPrompt(db, vault, 'prompt', row);
  const hidden = new Set<string>();
  for (const { row: partial } of await partialsBehind(db, vault, row.workspace_id, references)) {
    const open = partial.workspace_id === workspaceId || (await isSharedWith(db, partial.id, [workspaceId]));
    if (!open) hidden.add(partial.slug);
  }
  if (hidden.size > 0) {
    throw invalid('', `This prompt uses partials that are not shared with the workspace: ${[...hidden].join(', ')}`);
  }
}
