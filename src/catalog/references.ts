/** How other resources refer to configs and guardrails: by id or slug, within a workspace or the organisation. */
import type { Db } from '../store/database.ts';

export interface Reference {
  id: string;
  slug: string;
}

export interface ConfigIndex {
  /** The config of this workspace that `ref` (id or slug) names. */
  find(db: Db, workspaceId: string, ref: string): Promise<Reference | null>;
}

export interface GuardrailIndex {
  /** The guardrail that `ref` names: of the workspace, or of the organisation itself when `workspaceId` is null. */
  find(db: Db, organisationId: string, workspaceId: string | null, ref: string): Promise<Reference | null>;
}

/** Until configs and guardrails can be saved there is none to refer to, and every reference is refused as unknown. */
export const noConfigs: ConfigIndex = { find: async () => null };
export const noGuardrails: GuardrailIndex = { find: async () => null };
