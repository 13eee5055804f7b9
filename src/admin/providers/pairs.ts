/** Pages of providers together with their integrations. */
import type { Db } from '../../store/database.ts';
import { carries } from '../integrations/tags.ts';
import type { Page } from '../kernel/endpoint.ts';
import { newestFirst } from '../kernel/lists/list-queries.ts';
import type { SavedPair } from './access.ts';

interface Choice {
  workspaceId: string;
  tags?: readonly [string, string][];
  /** Only providers that are one with an integration of the workspace. */
  virtualKeys?: boolean;
}

export async function pageOfPairs(db: Db, choice: Choice, page: Page): Promise<{ pairs: SavedPair[]; total: number }> {
  const matches = matching(db, choice);
  const { rows: providers, total } = await newestFirst(matches, page);
  if (providers.length === 0) return { pairs: [], total };
  const integrations = await db
    .selectFrom('integrations')
    .selectAll()
    .where(
      'id',
      'in',
      providers.map((provider) => provider.integration_id),
    )
    .execute();
  const byId = new Map(integrations.map((integration) => [integration.id, integration]));
  const pairs = providers.flatMap((provider) => {
    const integration = byId.get(provider.integration_id);
    return integration ? [{ provider, integration }] : [];
  });
  return { pairs, total };
}

function matching(db: Db, { workspaceId, tags = [], virtualKeys = false }: Choice) {
  let matches = db
    .selectFrom('providers')
    .where('workspace_id', '=', workspaceId)
    .where('status', 'in', ['active', 'exhausted', 'expired']);
  for (const pair of tags) matches = matches.where(carries(pair));
  if (virtualKeys) {
    matches = matches.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('integrations as integration')
          .select('integration.id')
          .whereRef('integration.id', '=', 'providers.integration_id')
          .whereRef('integration.workspace_id', '=', 'providers.workspace_id')
          .whereRef('integration.slug', '=', 'providers.slug'),
      ),
    );
  }
  return matches;
}
