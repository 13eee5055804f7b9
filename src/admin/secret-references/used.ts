/** What is mapped to a secret reference, and would lose its credentials with it. */
import type { Expression } from 'kysely';
import type { Db } from '../../store/database.ts';
import { holds } from '../kernel/lists/list-queries.ts';

/** A mapping names its reference by either. */
const names = (column: Expression<string>, { id, slug }: { id: string; slug: string }) =>
  [id, slug].map((name) => holds(column, `"secret_reference_id":${JSON.stringify(name)}`));

/** Kinds of things that map it, as a refusal names them. */
export async function usersOf(
  db: Db,
  reference: { id: string; slug: string; organisation_id: string },
): Promise<string[]> {
  const organisationId = reference.organisation_id;
  const [integration, provider, mcp, agent, plugin] = await Promise.all([
    db
      .selectFrom('integrations')
      .select('slug')
      .where('organisation_id', '=', organisationId)
      .where('status', '=', 'active')
      .where((eb) => eb.or(names(eb.ref('secret_mappings'), reference)))
      .executeTakeFirst(),
    db
      .selectFrom('providers')
      .select('slug')
      .where('organisation_id', '=', organisationId)
      .where('status', '!=', 'archived')
      .where((eb) => eb.or(names(eb.ref('secret_mappings'), reference)))
      .executeTakeFirst(),
    db
      .selectFrom('mcp_integrations')
      .select('slug')
      .where('organisation_id', '=', organisationId)
      .where('status', '=', 'active')
      .where((eb) => eb.or(names(eb.ref('secret_mappings'), reference)))
      .executeTakeFirst(),
    db
      .selectFrom('agent_integrations')
      .select('slug')
      .where('organisation_id', '=', organisationId)
      .where('status', '=', 'active')
      .where((eb) => eb.or(names(eb.ref('secret_mappings'), reference)))
      .executeTakeFirst(),
    db
      .selectFrom('plugins')
      .select('plugin as slug')
      .where('organisation_id', '=', organisationId)
      .where((eb) => eb.or(names(eb.ref('secret_mappings'), reference)))
      .executeTakeFirst(),
  ]);
  const found = { integration, provider, 'MCP integration': mcp, 'agent integration': agent, plugin };
  return Object.entries(found).flatMap(([kind, row]) => (row ? [`the ${kind} ${row.slug}`] : []));
}
