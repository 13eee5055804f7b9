/** Purges travel as change notices, so that every node forgets the same entries. */
import type { Change } from '../store/changes.ts';
import type { PurgeScope } from './engine.ts';

export const purgeChange = ({ workspaceId, namespace, key }: PurgeScope): Change => ({
  topic: 'cache',
  id: JSON.stringify([workspaceId, namespace, key]),
});

/** The purges among some changes. */
export function purgesIn(changes: readonly Change[]): PurgeScope[] {
  return changes
    .filter(({ topic }) => topic === 'cache')
    .map(({ id }) => {
      const [workspaceId, namespace, key]: [string, string | null, string | null] = JSON.parse(id);
      return { workspaceId, namespace, key };
    });
}
