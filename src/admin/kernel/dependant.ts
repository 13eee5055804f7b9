/** What a resource must say about its rows that belong to a workspace. */
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';

/** Rows that belong to a workspace: they prevent its removal, or go with it. */
export interface Dependant {
  /** As the refusal names it: `API keys`. */
  kind: string;
  /** How many prevent the removal unless the caller forces it. Absent where they prevent nothing. */
  count?(db: Db, workspaceId: string): Promise<number>;
  /** Removes them with the workspace; answers what changed. */
  remove(db: Db, workspaceId: string, now: Date): Promise<Change[]>;
}
