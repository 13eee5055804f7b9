/** The values that a filter of calls can have. */
import { z } from 'zod';
import { endpoint } from '../kernel/endpoint.ts';
import { conditionsOf, filterShape, rangeShape, requireRange } from './filters.ts';
import { inTime, visibleLogs } from './scopes.ts';

const scopes = ['logs.list', 'analytics.view'] as const;
const texts = () => z.array(z.string());

export const listFilterValues = endpoint({
  method: 'GET',
  path: '/logs/filter-values',
  tag: 'Logs',
  summary: 'List the values that the calls of a range have, for those who build a filter',
  access: {
    callers: ['admin-key', 'workspace-key', 'user-key', 'session'],
    scope: { anyOf: scopes },
    level: 'workspace',
  },
  query: () => z.object({ ...filterShape(), ...rangeShape }),
  reply: () =>
    z.object({
      object: z.literal('filter-values'),
      ai_orgs: texts(),
      ai_models: texts(),
      virtual_keys: texts(),
      configs: texts(),
      api_key_ids: texts(),
      prompt_slugs: texts(),
      status_codes: z.array(z.int()),
      metadata_keys: texts(),
    }),
  async handle({ caller, query, workspace, db, services }) {
    const [from, to] = [Date.parse(query.time_of_generation_min), Date.parse(query.time_of_generation_max)];
    requireRange(from, to);
    const visible = await visibleLogs({ db, caller, workspace, slug: query.workspace_slug, needs: scopes, sums: true });
    const values = await inTime(
      services.logs.values({
        ...conditionsOf(query),
        organisationId: caller.organisationId,
        scopes: visible.scopes,
        from,
        to,
      }),
    );
    return {
      object: 'filter-values' as const,
      ai_orgs: values.ai_org,
      ai_models: values.ai_model,
      virtual_keys: values.virtual_key,
      configs: values.config,
      api_key_ids: values.api_key_id,
      prompt_slugs: values.prompt_slug,
      status_codes: values.response_status_code,
      metadata_keys: values.metadataKeys,
    };
  },
});
