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

/** The configs in the store; an archived one can no longer be referred to. */
export const savedConfigs: ConfigIndex = {
  async find(db, workspaceId, ref) {
    const found = await db
      .selectFrom('configs')
      .select(['id', 'slug'])
      .where('workspace_id', '=', workspaceId)
      .where((eb) => eb.or([eb('id', '=', ref), eb('slug', '=', ref)]))
      .where('status', '=', 'active')
      .executeTakeFirst();
    return found ?? null;
  },
};

/** The guardrails in the store; an archived one can no longer be referred to. */
export const savedGuardrails: GuardrailIndex = {
  async find(db, organisationId, workspaceId, ref) {
    const own = db
      .selectFrom('guardrails')
      .select(['id', 'slug'])
      .where('organisation_id', '=', organisationId)
      .where((eb) => eb.or([eb('id', '=', ref), eb('slug', '=', ref)]))
      .where('status', '=', 'active');
    const found = await (workspaceId === null
      ? own.where('workspace_id', 'is', null)
      : own.where('workspace_id', '=', workspaceId)
    ).executeTakeFirst();
    return found ?? null;
  },
};

/** A guardrail that requests of the workspace may pass: its own, or one of the organisation. */
export const usableGuardrail = async (
  guardrails: GuardrailIndex,
  db: Db,
  organisationId: string,
  workspaceId: string,
  ref: string,
): Promise<Reference | null> =>
  (await guardrails.find(db, organisationId, workspaceId, ref)) ?? guardrails.find(db, organisationId, null, ref);
