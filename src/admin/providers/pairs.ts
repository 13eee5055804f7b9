/** Pages of providers together with their integrations. */
import type { Db } from '../../store/database.ts';
import { carries } from '../integrations/tags.ts';
import type { Page } from '../kernel/endpoint.ts';
import { newestFirst, oneHoldsInAnyCase } from '../kernel/lists/list-queries.ts';
import type { SavedPair } from './access.ts';

interface Choice {
  organisationId: string;
  workspaces: 'all' | readonly string[];
  /** A part of the name or the slug. */
  search?: string | undefined;
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

function matching(db: Db, { organisationId, workspaces, search, tags = [], virtualKeys = false }: Choice) {
  let matches = db
    .selectFrom('providers')
    .where('organisation_id', '=', organisationId)
    .where('status', 'in', ['active', 'exhausted', 'expired']);
  if (workspaces !== 'all') matches = matches.where('workspace_id', 'in', [...workspaces]);
  if (search) {
    matches = matches.where((eb) => oneHoldsInAnyCase(search, eb.ref('name'), eb.ref('slug')));
  }
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
