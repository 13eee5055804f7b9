/** Changing a prompt: new content makes a new version, name and collection belong to the prompt itself. */
import { invalid, invalidFields } from '../../http/errors.ts';
import { actorId } from '../../identity/caller.ts';
import type { PromptContent } from '../../prompts/content.ts';
import type { Db } from '../../store/database.ts';
import { encode } from '../../store/json.ts';
import { collectionIn } from '../collections/access.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { sentFields } from '../kernel/validate.ts';
import { type ItemRow, promptAccess, promptsChanged, reachOwn } from './access.ts';
import { checkTemplate, contentOf, providerIn } from './content.ts';
import { type PromptUpdate, promptPath, promptUpdate, updatedPrompt, updateQuery } from './schema.ts';
import { addVersion, versionRow } from './store.ts';

/** A request that carries one of these says what the new version is. */
const contentFields = [
  'string',
  'parameters',
  'model',
  'functions',
  'tools',
  'tool_choice',
  'is_raw_template',
] as const;
/** What such a request must carry, unless it patches. */
const completeFields = ['string', 'parameters', 'model', 'virtual_key'] as const;
const versionFields = [
  ...contentFields,
  'virtual_key',
  'version_description',
  'template_metadata',
  'prompt_metadata',
] as const;

export const updatePrompt = endpoint({
  method: 'PUT',
  path: '/prompts/:prompt',
  tag: 'Prompts',
  summary: 'Change a prompt; new content becomes a version that is not published yet',
  access: promptAccess('update'),
  audit: { resource: 'prompt', action: 'update' },
  params: promptPath,
  query: updateQuery,
  body: promptUpdate,
  reply: updatedPrompt,
  async handle(call) {
    const { body, query, db, now, services, changed, note } = call;
    const patch = body.patch ?? query.patch ?? false;
    const sent = sentFields(body, ['name', 'collection_id', ...versionFields]);
    const row = await reachOwn(call, 'prompt', call.params.prompt, 'update');
    const makesVersion = patch
      ? versionFields.some((field) => sent.includes(field))
      : contentFields.some((field) => sent.includes(field));
    if (patch && !makesVersion) throw invalid('patch', `send at least one of ${versionFields.join(', ')} with it`);
    if (makesVersion && !patch) requireComplete(body);

    let versionId: string | undefined;
    if (makesVersion) {
      const latest = await versionRow(db, row, { by: 'latest' });
      const base = patch ? contentOf(services.vault, latest) : null;
      const content = await changedContent(db, row, body, base);
      checkTemplate(content);
      const description = body.version_description ?? (patch ? latest.description : '');
      const made = { description, content, createdBy: actorId(call.caller) };
      versionId = await addVersion(db, services.vault, now, row, made);
    } else {
      await changeBeside(db, row, body);
    }
    await db
      .updateTable('prompts')
      .set({
        name: body.name ?? row.name,
        collection_id: body.collection_id
          ? (await collectionIn(db, row.workspace_id, body.collection_id, 'collection_id')).id
          : row.collection_id,
        last_updated_at: now.toISOString(),
      })
      .where('id', '=', row.id)
      .execute();
    changed(promptsChanged(row.workspace_id));
    note({
      resourceId: row.id,
      workspaceId: row.workspace_id,
      details: { slug: row.slug, ...(versionId && { version_id: versionId }) },
    });
    return {
      id: row.id,
      slug: row.slug,
      object: 'prompt' as const,
      ...(versionId && { prompt_version_id: versionId }),
    };
  },
});

function requireComplete(body: PromptUpdate): void {
  const missing = completeFields.filter((field) => body[field] === undefined);
  if (missing.length === 0) return;
  throw invalidFields(
    missing.map((path) => ({
      location: 'body',
      path,
      message: 'is required beside new content; or send patch: true to keep what the latest version has',
    })),
  );
}

/** The content of the new version: what was sent, and the rest from `base`. */
async function changedContent(
  db: Db,
  row: ItemRow,
  body: PromptUpdate,
  base: PromptContent | null,
): Promise<PromptContent> {
  const provider = body.virtual_key === undefined ? null : await providerIn(db, row.workspace_id, body.virtual_key);
  return {
    string: body.string ?? base?.string ?? '',
    isRaw: body.is_raw_template ?? base?.isRaw ?? false,
    parameters: body.parameters ?? base?.parameters ?? {},
    model: body.model ?? base?.model ?? null,
    provider: provider ?? base?.provider ?? '',
    functions: body.functions ?? base?.functions ?? null,
    tools: body.tools ?? base?.tools ?? null,
    toolChoice: body.tool_choice ?? base?.toolChoice ?? null,
    metadata: body.template_metadata ?? body.prompt_metadata ?? base?.metadata ?? {},
  };
}

/** Description, provider and metadata stand beside the content: alone they change the latest version and make none. */
async function changeBeside(db: Db, row: ItemRow, body: PromptUpdate): Promise<void> {
  const metadata = body.template_metadata ?? body.prompt_metadata;
  const beside = {
    ...(body.version_description !== undefined && { description: body.version_description }),
    ...(body.virtual_key !== undefined && { virtual_key: await providerIn(db, row.workspace_id, body.virtual_key) }),
    ...(metadata !== undefined && { metadata: encode(metadata) }),
  };
  if (Object.keys(beside).length === 0) return;
  await db.updateTable('prompt_versions').set(beside).where('id', '=', row.latest_version_id).execute();
}
