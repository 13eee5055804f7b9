/** The administration API as the commands for prompts use it. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type PartialFile, type PromptFile, PromptFilesError, stringOf, templateOf } from './file.ts';

export interface PromptServer {
  url: string;
  key: string;
  /** Needed of admin keys, which have no workspace of their own. */
  workspace: string | undefined;
}

const pageSize = 500;
const json = z.record(z.string(), z.json());
const listed = z.object({ id: z.string(), slug: z.string(), name: z.string(), collection_id: z.string() });
export type ListedItem = z.output<typeof listed>;
const collection = z.object({
  id: z.string(),
  name: z.string(),
  parent_collection_id: z.string().nullable(),
  is_default: z.union([z.literal(0), z.literal(1)]),
});
const prompt = listed.extend({
  string: z.string(),
  parameters: json,
  model: z.string().nullable(),
  virtual_key: z.string(),
  functions: z.array(json).nullable(),
  tools: z.array(json).nullable(),
  tool_choice: z.json().nullable(),
  template_metadata: json,
  is_raw_template: z.union([z.literal(0), z.literal(1)]),
  prompt_version: z.number(),
  prompt_version_description: z.string(),
});
const partial = listed.extend({ string: z.string(), version: z.number(), version_description: z.string() });
const refusal = z.object({ data: z.object({ message: z.string(), errorCode: z.string() }) });

/** A collection and those that it lies in, outermost first; empty: the default one. */
export interface Collections {
  pathOf(id: string): string[];
  /** The id, made where it is missing. */
  idOf(path: readonly string[]): Promise<string | undefined>;
}

export type Version = 'default' | 'latest';

export class RefusedError extends PromptFilesError {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export function connect({ url, key, workspace }: PromptServer) {
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const address = new URL(`${url.replace(/\/+$/, '')}/v1${path}`);
    if (workspace !== undefined) address.searchParams.set('workspace_id', workspace);
    let response: Response;
    try {
      response = await fetch(address, {
        method,
        headers: { 'x-gw-api-key': key, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify({ ...body, ...(workspace !== undefined && { workspace_id: workspace }) }) }),
      });
    } catch (fault) {
      throw new PromptFilesError(
        `${url} does not answer (${fault instanceof Error ? fault.message : fault}); set GW_URL.`,
      );
    }
    const answer: unknown = await response.json().catch(() => null);
    if (response.ok) return answer;
    const told = refusal.safeParse(answer);
    const reason = told.success
      ? `${told.data.data.message} (${told.data.data.errorCode})`
      : `status ${response.status}`;
    throw new RefusedError(response.status, `${method} ${path}: ${reason}`);
  };

  const all = async <T extends z.ZodType>(path: string, record: T): Promise<z.output<T>[]> => {
    const found: z.output<T>[] = [];
    for (let page = 0; ; page++) {
      const joint = path.includes('?') ? '&' : '?';
      const answer = await ask('GET', `${path}${joint}current_page=${page}&page_size=${pageSize}`);
      const { data, total } = z.object({ data: z.array(record), total: z.number() }).parse(answer);
      found.push(...data);
      if (data.length === 0 || found.length >= total) return found;
    }
  };

  return {
    prompts: () => all('/prompts?type=own', listed),
    partials: () => all('/prompts/partials?type=own', listed),

    async collections(): Promise<Collections> {
      const known = new Map((await all('/collections', collection)).map((row) => [row.id, row]));
      const pathOf = (id: string): string[] => {
        const row = known.get(id);
        if (!row || row.is_default === 1) return [];
        return [...(row.parent_collection_id === null ? [] : pathOf(row.parent_collection_id)), row.name];
      };
      const make = async (name: string, parent: string | null): Promise<string> => {
        const body = { name, ...(parent !== null && { parent_collection_id: parent }) };
        const { id } = z.object({ id: z.string() }).parse(await ask('POST', '/collections', body));
        known.set(id, { id, name, parent_collection_id: parent, is_default: 0 });
        return id;
      };
      return {
        pathOf,
        async idOf(path) {
          let parent: string | null = null;
          for (const [at, name] of path.entries()) {
            const wanted = path.slice(0, at + 1);
            const found = [...known.keys()].find((id) => isDeepStrictEqual(pathOf(id), wanted));
            parent = found ?? (await make(name, parent));
          }
          return parent ?? [...known.values()].find((row) => row.is_default === 1)?.id;
        },
      };
    },

    async readPrompt(slug: string, collections: Collections, version: Version = 'default') {
      const row = prompt.parse(await ask('GET', `/prompts/${encodeURIComponent(slug)}?version=${version}`));
      const raw = row.is_raw_template === 1;
      const file: PromptFile = {
        kind: 'prompt',
        slug: row.slug,
        name: row.name,
        collection: collections.pathOf(row.collection_id),
        description: row.prompt_version_description,
        provider: `@${row.virtual_key}`,
        model: row.model,
        parameters: row.parameters,
        functions: row.functions?.length ? row.functions : null,
        tools: row.tools?.length ? row.tools : null,
        tool_choice: row.tool_choice,
        metadata: row.template_metadata,
        raw,
        ...templateOf(row.string, raw),
      };
      return { file, version: row.prompt_version };
    },

    async readPartial(slug: string, collections: Collections, version: Version = 'default') {
      const row = partial.parse(await ask('GET', `/prompts/partials/${encodeURIComponent(slug)}?version=${version}`));
      const file: PartialFile = {
        kind: 'partial',
        slug: row.slug,
        name: row.name,
        collection: collections.pathOf(row.collection_id),
        description: row.version_description,
        text: row.string,
      };
      return { file, version: row.version };
    },

    createPrompt: (file: PromptFile, collectionId: string | undefined) =>
      ask('POST', '/prompts', { slug: file.slug, name: file.name, collection_id: collectionId, ...contentOf(file) }),
    /** Without `model` the API fills gaps from the latest version. */
    changePrompt: (slug: string, file: PromptFile) =>
      ask('PUT', `/prompts/${slug}`, { ...contentOf(file), ...(file.model === null && { patch: true }) }),
    placePrompt: (slug: string, file: PromptFile, collectionId: string | undefined) =>
      ask('PUT', `/prompts/${slug}`, { name: file.name, collection_id: collectionId }),
    publishPrompt: (slug: string, version: number) => ask('PUT', `/prompts/${slug}/makeDefault`, { version }),

    createPartial: (file: PartialFile, collectionId: string | undefined) =>
      ask('POST', '/prompts/partials', {
        slug: file.slug,
        name: file.name,
        collection_id: collectionId,
        string: file.text,
        version_description: file.description,
      }),
    changePartial: (slug: string, file: PartialFile) =>
      ask('PUT', `/prompts/partials/${slug}`, { name: file.name, string: file.text, description: file.description }),
    publishPartial: (slug: string, version: number) => ask('PUT', `/prompts/partials/${slug}/makeDefault`, { version }),
  };
}

export type PromptClient = ReturnType<typeof connect>;

const contentOf = (file: PromptFile) => ({
  string: stringOf(file),
  parameters: file.parameters,
  virtual_key: file.provider,
  ...(file.model !== null && { model: file.model }),
  functions: file.functions ?? [],
  tools: file.tools ?? [],
  ...(file.tool_choice !== null && { tool_choice: file.tool_choice }),
  version_description: file.description,
  template_metadata: file.metadata,
  is_raw_template: file.raw,
});
