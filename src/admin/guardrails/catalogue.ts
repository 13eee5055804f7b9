/** The checks that guardrails can be made of. */
import { z } from 'zod';
import { checks } from '../../guardrails/catalogue.ts';
import type { Check } from '../../guardrails/check.ts';
import { lazy } from '../../lazy.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { asList } from '../kernel/lists/paging.ts';
import { checkList } from './schema.ts';

export const listChecks = endpoint({
  method: 'GET',
  path: '/guardrails/checks',
  tag: 'Guardrails',
  summary: 'List the checks that guardrails can be made of, with their parameters',
  access: { callers: ['admin-key', 'workspace-key', 'user-key', 'session'], scope: null, level: 'workspace' },
  paging: { size: 1000, max: 1000 },
  reply: checkList,
  async handle({ page }) {
    return asList(shown().slice(page.offset, page.offset + page.size), checks.length);
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
