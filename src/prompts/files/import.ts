/** `gw prompts import`: makes the prompts and partials of a workspace say what the files of a folder say. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Collections, ListedItem, PromptClient, Version } from './client.ts';
import { type ItemFile, type PartialFile, type PromptFile, PromptFilesError, readItem, saysTheSame } from './file.ts';

interface ImportOptions {
  /** New versions are not published. */
  draft: boolean;
  /** Nothing is changed. */
  dryRun: boolean;
}

export interface ImportStep {
  deed: 'create' | 'change' | 'publish' | 'move' | 'keep';
  kind: ItemFile['kind'];
  name: string;
  slug: string;
}

/** All files are read before anything is changed. Partials come first, since prompts are made of them. */
export async function importPrompts(
  client: PromptClient,
  folder: string,
  options: ImportOptions,
): Promise<ImportStep[]> {
  const items = await filesIn(folder);
  const collections = await client.collections();
  const present = { prompt: await client.prompts(), partial: await client.partials() };
  const steps: ImportStep[] = [];
  for (const { item, file } of items) {
    const row = matching(item, present[item.kind], collections);
    try {
      const side =
        item.kind === 'prompt' ? promptSide(client, collections, item) : partialSide(client, collections, item);
      steps.push(...(await settle(item, row, side, options)));
    } catch (fault) {
      if (fault instanceof PromptFilesError) throw new PromptFilesError(`${file}: ${fault.message}`);
      throw fault;
    }
  }
  return steps;
}

async function filesIn(folder: string): Promise<{ item: ItemFile; file: string }[]> {
  const found: { item: ItemFile; file: string }[] = [];
  for (const name of ['partials', 'prompts']) {
    const entries = await readdir(join(folder, name)).catch((): string[] => []);
    for (const entry of entries.filter((entry) => /\.ya?ml$/.test(entry)).sort()) {
      const file = join(name, entry);
      found.push({ item: readItem(await readFile(join(folder, file), 'utf8'), file), file });
    }
  }
  if (found.length === 0) {
    throw new PromptFilesError(`${folder} holds no prompts/*.yaml or partials/*.yaml; gw prompts export makes them.`);
  }
  const slugs = found.map(({ item }) => `${item.kind} ${item.slug}`);
  const twice = slugs.find((slug, at) => slugs.indexOf(slug) !== at);
  if (twice) throw new PromptFilesError(`${folder} holds two files of the ${twice}`);
  return found;
}

/** By its slug; in another workspace, where it has another slug, by its name in the same collection. */
function matching(item: ItemFile, rows: readonly ListedItem[], collections: Collections): ListedItem | undefined {
  return (
    rows.find((row) => row.slug === item.slug) ??
    rows.find(
      (row) => row.name === item.name && isDeepStrictEqual(collections.pathOf(row.collection_id), item.collection),
    )
  );
}

/** What differs between prompts and partials. */
interface Side {
  read(slug: string, version: Version): Promise<{ file: ItemFile; version: number }>;
  create(): Promise<unknown>;
  /** Name and collection. */
  place(slug: string): Promise<unknown>;
  change(slug: string): Promise<unknown>;
  publish(slug: string, version: number): Promise<unknown>;
}

const promptSide = (client: PromptClient, collections: Collections, file: PromptFile): Side => ({
  read: (slug, version) => client.readPrompt(slug, collections, version),
  create: async () => client.createPrompt(file, await collections.idOf(file.collection)),
  place: async (slug) => client.placePrompt(slug, file, await collections.idOf(file.collection)),
  change: (slug) => client.changePrompt(slug, file),
  publish: (slug, version) => client.publishPrompt(slug, version),
});

const partialSide = (client: PromptClient, collections: Collections, file: PartialFile): Side => ({
  read: (slug, version) => client.readPartial(slug, collections, version),
  create: async () => client.createPartial(file, await collections.idOf(file.collection)),
  place: (slug) => client.changePartial(slug, file),
  change: (slug) => client.changePartial(slug, file),
  publish: (slug, version) => client.publishPartial(slug, version),
});

async function settle(
  item: ItemFile,
  row: ListedItem | undefined,
  side: Side,
  { draft, dryRun }: ImportOptions,
): Promise<ImportStep[]> {
  const step = (deed: ImportStep['deed'], slug = row?.slug ?? item.slug): ImportStep => ({
    deed,
    kind: item.kind,
    name: item.name,
    slug,
  });
  if (!row) {
    if (!dryRun) await side.create();
    return [step('create')];
  }
  const steps: ImportStep[] = [];
  const { file: published } = await side.read(row.slug, draft ? 'latest' : 'default');
  if (published.name !== item.name || !isDeepStrictEqual(published.collection, placeOf(item, published))) {
    if (!dryRun) await side.place(row.slug);
    steps.push(step('move'));
  }
  const wanted = { ...item, name: published.name, collection: published.collection };
  if (saysTheSame(wanted, published)) return steps.length > 0 ? steps : [step('keep')];
  const latest = await side.read(row.slug, 'latest');
  const isThere = saysTheSame({ ...wanted, name: latest.file.name }, latest.file);
  if (!isThere) {
    if (!dryRun) await side.change(row.slug);
    steps.push(step('change'));
  }
  if (!draft) {
    if (!dryRun) await side.publish(row.slug, isThere ? latest.version : (await side.read(row.slug, 'latest')).version);
    steps.push(step('publish'));
  }
  return steps;
}

/** The API moves no partials between collections. */
const placeOf = (item: ItemFile, published: ItemFile): string[] =>
  item.kind === 'partial' ? published.collection : item.collection;
