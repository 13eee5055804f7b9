/** The prompts of a workspace as the gateway uses them: published versions in memory, the others read when they are first asked for. */
import { lazy } from '../lazy.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { PromptAddress } from '../prompts/address.ts';
import { type CompiledPrompt, compilePrompt } from '../prompts/compile.ts';
import type { PromptContent } from '../prompts/content.ts';
import { openPartialText, openPromptContent } from '../prompts/sealed.ts';
import { type PartialReference, parseTemplate, type Template } from '../prompts/template.ts';
import { universalLabels } from '../prompts/universal-labels.ts';
import type { Db } from '../store/database.ts';
import { decode } from '../store/json.ts';
import type { PromptVersionTable } from '../store/tables/prompts.ts';
import type { Vault } from '../store/vault.ts';

/** One version of a prompt. */
export interface SavedPrompt {
  id: string;
  slug: string;
  versionId: string;
  version: number;
  content(): PromptContent;
  /** Parsed when it is first used. Throws a `TemplateFault` where it does not parse. */
  compiled(): CompiledPrompt;
}

export interface PromptShelf {
  /** A prompt of this workspace at a version; null when either is missing. */
  prompt(address: PromptAddress): MaybePromise<SavedPrompt | null>;
  partial(reference: PartialReference): MaybePromise<Template | null>;
  /** The workspace that shares the item of this id or slug with this one. */
  sharedBy(kind: 'prompt' | 'partial', reference: string): string | null;
}

interface PromptRow {
  id: string;
  slug: string;
  latestVersionId: string;
  published: SavedPrompt;
  /** The id of the labelled version, by the label's name. */
  labels: Map<string, string>;
}

interface PartialRow {
  id: string;
  latestVersionId: string;
  published: () => Template;
}

/** Versions that were read besides the published ones. */
const mostKept = 500;

export async function readPrompts(
  db: Db,
  vault: Vault,
  workspaceId: string,
  organisationId: string,
): Promise<PromptShelf> {
  const [prompts, labels, partials, shares] = await Promise.all([
    promptsOf(db, workspaceId),
    labelsOf(db, workspaceId),
    partialsOf(db, workspaceId),
    sharesWith(db, workspaceId, organisationId),
  ]);
  const promptByName = new Map<string, PromptRow>();
  for (const { slug, latest_version_id, ...version } of prompts) {
    const row: PromptRow = {
      id: version.prompt_id,
      slug,
      latestVersionId: latest_version_id,
      published: savedPrompt(vault, slug, version),
      labels: new Map(),
    };
    promptByName.set(row.id, row).set(slug, row);
  }
  for (const { prompt_id, version_id, label_id, name } of labels) {
    const known = name ?? universalLabels.find(({ id }) => id === label_id)?.name;
    if (known !== undefined) promptByName.get(prompt_id)?.labels.set(known, version_id);
  }
  const partialByName = new Map<string, PartialRow>();
  for (const { id, slug, latest_version_id, string_sealed } of partials) {
    const row = {
      id,
      latestVersionId: latest_version_id,
      published: lazy(() => parseTemplate(openPartialText(vault, string_sealed))),
    };
    partialByName.set(id, row).set(slug, row);
  }
  const sharers = new Map<string, string>();
  for (const { item_type, id, slug, workspace_id } of shares) {
    sharers.set(`${item_type} ${id}`, workspace_id).set(`${item_type} ${slug}`, workspace_id);
  }
  const versions = keptReads<SavedPrompt>();
  const texts = keptReads<Template>();

  const readVersion = async (
    row: PromptRow,
    where: { id: string } | { number: number },
  ): Promise<SavedPrompt | null> => {
    const all = db.selectFrom('prompt_versions').selectAll().where('prompt_id', '=', row.id);
    const found = await ('id' in where
      ? all.where('id', '=', where.id)
      : all.where('version', '=', where.number)
    ).executeTakeFirst();
    return found ? savedPrompt(vault, row.slug, found) : null;
  };

  const readText = async (row: PartialRow, where: { id: string } | { number: number }): Promise<Template | null> => {
    const all = db.selectFrom('prompt_partial_versions').select('string_sealed').where('partial_id', '=', row.id);
    const found = await ('id' in where
      ? all.where('id', '=', where.id)
      : all.where('version', '=', where.number)
    ).executeTakeFirst();
    return found ? parseTemplate(openPartialText(vault, found.string_sealed)) : null;
  };

  return {
    prompt({ reference, version }) {
      const row = promptByName.get(reference);
      if (!row || version.by === 'published') return row?.published ?? null;
      if (version.by === 'number') {
        if (version.number === row.published.version) return row.published;
        return versions(`${row.id}@${version.number}`, () => readVersion(row, { number: version.number }));
      }
      const id = version.by === 'latest' ? row.latestVersionId : row.labels.get(version.label);
      if (id === undefined) return null;
      return id === row.published.versionId ? row.published : versions(id, () => readVersion(row, { id }));
    },
    partial({ slug, version }) {
      const row = partialByName.get(slug);
      if (!row) return null;
      if (version === 'published') return row.published();
      if (version === 'latest') return texts(row.latestVersionId, () => readText(row, { id: row.latestVersionId }));
      return texts(`${row.id}@${version}`, () => readText(row, { number: version }));
    },
    sharedBy: (kind, reference) => sharers.get(`${kind} ${reference}`) ?? null,
  };
}

/** Keeps what was read; a failed reading is not kept, and neither is what is not there. */
function keptReads<T>(): (key: string, read: () => Promise<T | null>) => MaybePromise<T | null> {
  const kept = new Map<string, T>();
  return (key, read) => {
    const known = kept.get(key);
    if (known !== undefined) return known;
    return read().then((found) => {
      if (found === null) return null;
      if (kept.size >= mostKept) kept.delete(kept.keys().next().value ?? '');
      kept.set(key, found);
      return found;
    });
  };
}

function savedPrompt(
  vault: Vault,
  slug: string,
  row: Omit<PromptVersionTable, 'description' | 'created_by' | 'created_at'>,
): SavedPrompt {
  const content = lazy(
    (): PromptContent => ({
      ...openPromptContent(vault, row.content_sealed),
      model: row.model,
      provider: row.virtual_key,
      metadata: decode(row.metadata),
    }),
  );
  return {
    id: row.prompt_id,
    slug,
    versionId: row.id,
    version: row.version,
    content,
    compiled: lazy(() => compilePrompt(content())),
  };
}

const promptsOf = (db: Db, workspaceId: string) =>
  db
    .selectFrom('prompts as prompt')
    .innerJoin('prompt_versions as version', 'version.id', 'prompt.default_version_id')
    .select([
      'prompt.slug',
      'prompt.latest_version_id',
      'version.id',
      'version.prompt_id',
      'version.version',
      'version.model',
      'version.virtual_key',
      'version.metadata',
      'version.content_sealed',
    ])
    .where('prompt.workspace_id', '=', workspaceId)
    .where('prompt.status', '=', 'active')
    .execute();

const labelsOf = (db: Db, workspaceId: string) =>
  db
    .selectFrom('prompt_version_labels as mapping')
    .innerJoin('prompts as prompt', 'prompt.id', 'mapping.prompt_id')
    .leftJoin('prompt_labels as label', 'label.id', 'mapping.label_id')
    .select(['mapping.prompt_id', 'mapping.version_id', 'mapping.label_id', 'label.name'])
    .where('prompt.workspace_id', '=', workspaceId)
    .where('prompt.status', '=', 'active')
    .execute();

const partialsOf = (db: Db, workspaceId: string) =>
  db
    .selectFrom('prompt_partials as partial')
    .innerJoin('prompt_partial_versions as version', 'version.id', 'partial.default_version_id')
    .select(['partial.id', 'partial.slug', 'partial.latest_version_id', 'version.string_sealed'])
    .where('partial.workspace_id', '=', workspaceId)
    .where('partial.status', '=', 'active')
    .execute();

/** What other workspaces of the organisation share with this one. */
const sharesWith = async (db: Db, workspaceId: string, organisationId: string) => {
  const open = db
    .selectFrom('prompt_shares as share')
    .where('share.organisation_id', '=', organisationId)
    .where('share.workspace_id', '!=', workspaceId)
    .where((eb) =>
      eb.or([
        eb('share.audience', '=', 'organisation'),
        eb(
          'share.id',
          'in',
          eb.selectFrom('prompt_share_workspaces').select('share_id').where('workspace_id', '=', workspaceId),
        ),
      ]),
    );
  const prompts = await open
    .innerJoin('prompts as item', 'item.id', 'share.item_id')
    .select(['share.item_type', 'item.id', 'item.slug', 'share.workspace_id'])
    .execute();
  const partials = await open
    .innerJoin('prompt_partials as item', 'item.id', 'share.item_id')
    .select(['share.item_type', 'item.id', 'item.slug', 'share.workspace_id'])
    .execute();
  return [...prompts, ...partials];
};
