/** What a resource must say about its rows that belong to a workspace. */
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';

/** Rows that belong to a workspace and prevent its removal. */
export interface Dependant {
  /** As the refusal names it: `API keys`. */
  kind: string;
  count(db: Db, workspaceId: string): Promise<number>;
  /** Removes them with the workspace when the caller forces it; answers what changed. */
  remove(db: Db, workspaceId: string, now: Date): Promise<Change[]>;
}
