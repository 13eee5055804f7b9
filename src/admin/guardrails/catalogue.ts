/** The checks that guardrails can be made of. */
import { z } from 'zod';
import { checks } from '../../guardrails/catalogue.ts';
import type { Check } from '../../guardrails/check.ts';
import { lazy } from '../../lazy.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { search } from '../kernel/fields.ts';
import { heldList } from '../kernel/lists/held-lists.ts';
import { checkList } from './schema.ts';

export const listChecks = endpoint({
  method: 'GET',
  path: '/guardrails/checks',
  tag: 'Guardrails',
  summary: 'List the checks that guardrails can be made of, with their parameters',
  access: { callers: ['admin-key', 'workspace-key', 'user-key', 'session'], scope: null, level: 'workspace' },
  query: () => z.object({ search: search('the id, the name or the description') }),
  paging: { size: 1000, max: 1000 },
  reply: checkList,
  async handle({ page, query }) {
    const textsOf = ({ id, name, description }: ReturnType<typeof asRecord>) => [id, name, description];
    return heldList(shown(), { page, search: query.search, textsOf }, (record) => record);
  },
});

const shown = lazy(() => checks.map(asRecord));

const asRecord = (check: Check) => ({
  object: 'guardrail_check' as const,
  id: check.id,
  aliases: [...check.aliases],
  name: check.title,
  description: check.description,
  category: check.category,
  supported_hooks: [...check.events],
  transforms: check.transforms ?? false,
  network: check.network !== undefined,
  stream: streamNeed(check),
  parameters: schemaOf(check.schema()),
  credentials: check.network?.credentials ? schemaOf(check.network.credentials()) : null,
  example: check.example,
});

const schemaOf = (schema: z.ZodType): Record<string, unknown> =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Record<string, unknown>;

function streamNeed(check: Check): 'exact' | 'window' | 'whole' {
  if (check.network && check.category !== 'PRO') return 'whole';
  const setup = { credentials: {}, faultOfUrl: () => null, timeoutMs: 0 };
  return check.prepare(check.example, setup).stream?.needs ?? 'whole';
}
