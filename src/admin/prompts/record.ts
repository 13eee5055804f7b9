/** A prompt as callers read it. */
import { compilePrompt } from '../../prompts/compile.ts';
import type { PromptContent } from '../../prompts/content.ts';
import { TemplateFault } from '../../prompts/fault.ts';
import { variablesOf } from '../../prompts/variables.ts';
import type { PromptVersionTable } from '../../store/tables/prompts.ts';
import type { ItemRow } from './access.ts';
import type { ShareInfo } from './sharing.ts';
import type { VersionLabel } from './store.ts';

export interface PromptVisibility {
  shared: boolean;
  /** Undefined: nobody asked. */
  share: ShareInfo | null | undefined;
}

export const asListed = (row: ItemRow, { shared, share }: PromptVisibility) => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  collection_id: row.collection_id,
  workspace_id: row.workspace_id,
  status: row.status,
  created_at: row.created_at,
  last_updated_at: row.last_updated_at,
  ...(shared && { read_only: true as const, owner_workspace_id: row.workspace_id }),
  ...(share !== undefined && { share }),
});

export function asRecord(
  row: ItemRow,
  version: PromptVersionTable,
  content: PromptContent,
  labels: readonly VersionLabel[],
  shown: PromptVisibility,
) {
  const own = labelsOn(labels, version.id);
  return {
    ...asListed(row, shown),
    ...asTemplate(content),
    prompt_version: version.version,
    prompt_version_id: version.id,
    prompt_version_status: statusOf(row, version),
    prompt_version_description: version.description,
    prompt_version_label_id: own[0]?.id ?? null,
    labels: own,
    variables: variablesIn(content),
    object: 'prompt' as const,
  };
}

export function asVersion(
  row: ItemRow,
  version: PromptVersionTable,
  content: PromptContent,
  labels: readonly VersionLabel[],
) {
  const own = labelsOn(labels, version.id);
  return {
    id: version.id,
    prompt_id: row.id,
    prompt_template: asTemplate(content),
    prompt_version: version.version,
    prompt_description: version.description,
    label_id: own[0]?.id ?? null,
    labels: own,
    status: statusOf(row, version),
    created_at: version.created_at,
    object: 'prompt' as const,
  };
}

const statusOf = (row: ItemRow, { id }: { id: string }) =>
  id === row.default_version_id ? ('active' as const) : ('archived' as const);

const labelsOn = (labels: readonly VersionLabel[], versionId: string) =>
  labels.filter((label) => label.versionId === versionId).map(({ id, name }) => ({ id, name }));

const asTemplate = (content: PromptContent) => ({
  string: content.string,
  parameters: content.parameters,
  model: content.model,
  virtual_key: content.provider,
  functions: content.functions && [...content.functions],
  tools: content.tools && [...content.tools],
  tool_choice: content.toolChoice ?? null,
  template_metadata: content.metadata,
  is_raw_template: content.isRaw ? (1 as const) : (0 as const),
});

function variablesIn(content: PromptContent) {
  try {
    return variablesOf(compilePrompt(content)).map((variable) => ({
      ...variable,
      uses: variable.uses.map((use) => ({ ...use, sections: [...use.sections] })),
    }));
  } catch (fault) {
    // A template of an older release may no longer parse; it can still be read and mended.
    if (fault instanceof TemplateFault) return [];
    throw fault;
  }
}
