/** The content of a prompt version: checked when it is sent, sealed when it is kept. */
import { sealJson } from '../../catalog/saved.ts';
import { ApiError, invalid } from '../../http/errors.ts';
import { type CompiledPrompt, compilePrompt } from '../../prompts/compile.ts';
import type { PromptContent } from '../../prompts/content.ts';
import { TemplateFault } from '../../prompts/fault.ts';
import { openPromptContent, type SealedContent } from '../../prompts/sealed.ts';
import type { Db } from '../../store/database.ts';
import { decode, encode } from '../../store/json.ts';
import type { PromptVersionTable } from '../../store/tables/prompts.ts';
import type { Vault } from '../../store/vault.ts';

/** A template that does not parse is refused with its line and column. */
export function checkTemplate(content: Pick<PromptContent, 'string' | 'isRaw' | 'metadata' | 'model'>): CompiledPrompt {
  try {
    return compilePrompt(content);
  } catch (fault) {
    throw fault instanceof TemplateFault ? invalid('string', fault.message) : fault;
  }
}

/** The slug of the provider of this workspace that a field names. */
export async function providerIn(db: Db, workspaceId: string, named: string): Promise<string> {
  const wanted = named.replace(/^@/, '');
  const found = await db
    .selectFrom('providers')
    .select('slug')
    .where('workspace_id', '=', workspaceId)
    .where('status', '!=', 'archived')
    .where((eb) => eb.or([eb('slug', '=', wanted), eb('id', '=', wanted)]))
    .executeTakeFirst();
  if (found) return found.slug;
  const message = `names no provider of this workspace: ${wanted}`;
  throw new ApiError('AB08', `virtual_key: ${message}`, {
    errors: [{ location: 'body', path: 'virtual_key', message }],
  });
}

export function sealedColumns(vault: Vault, content: PromptContent) {
  const { string, isRaw, parameters, functions, tools, toolChoice } = content;
  const sealed: SealedContent = { string, isRaw, parameters, functions, tools, toolChoice };
  return {
    model: content.model,
    virtual_key: content.provider,
    metadata: encode({ ...content.metadata }),
    content_sealed: sealJson(vault, sealed, 'prompt'),
  };
}

export const contentOf = (vault: Vault, row: PromptVersionTable): PromptContent => ({
  ...openPromptContent(vault, row.content_sealed),
  model: row.model,
  provider: row.virtual_key,
  metadata: decode(row.metadata),
});
