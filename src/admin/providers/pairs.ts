/** Pages of providers together with their integrations. */
import type { Db } from '../../store/database.ts';
import { carries } from '../integrations/tags.ts';
import type { Page } from '../kernel/endpoint.ts';
import type { SavedPair } from './access.ts';
import { countOf } from '../kernel/list-queries.ts';

interface Choice {
  workspaceId: string;
  tags?: readonly [string, string][];
  /** Only providers that are one with an integration of the workspace. */
  virtualKeys?: boolean;
}

export async function pageOfPairs(db: Db, choice: Choice, page: Page): Promise<{ pairs: SavedPair[]; total: number }> {
  const matches = matching(db, choice);
  const total = await countOf(matches);
  const providers = await matches
    .selectAll('provider')
    .orderBy('provider.created_at', 'desc')
    .orderBy('provider.id', 'desc')
    .limit(page.size)
    .offset(page.offset)
    .execute();
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
    .selectFrom('providers as provider')
    .where('provider.workspace_id', '=', workspaceId)
    .where('provider.status', 'in', ['active', 'exhausted', 'expired']);
  for (const pair of tags) matches = matches.where(carries('provider.tags', pair));
  if (virtualKeys) {
    matches = matches.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('integrations as integration')
          .select('integration.id')
          .whereRef('integration.id', '=', 'provider.integration_id')
          .whereRef('integration.workspace_id', '=', 'provider.workspace_id')
          .whereRef('integration.slug', '=', 'provider.slug'),
      ),
    );
  }
  return matches;
}
