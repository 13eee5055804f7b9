/** The integrated model list: every model that the workspace's saved providers offer. */
import type { PlanNode } from '../catalog/plan.ts';
import type { Journey } from './journey.ts';
import type { GatewayParts } from './parts.ts';

interface ListedModel {
  id: string;
  slug: string;
  canonical_slug: string;
  object: 'model';
  created: number;
  owned_by: string;
}

/** The list is ours when the request names no provider, or asks for it although it does. */
export function wantsIntegratedModels(journey: Journey): boolean {
  if (journey.matched.route.kind !== 'listModels') return false;
  const { own, plan, provider } = journey;
  if (own.flag('fetch-integrated-models') || own.get('models-endpoint') || plan.fetchIntegratedModels) return true;
  return provider.savedSlug === null && provider.name === null && providersIn(plan.root).size === 0;
}

export function integratedModels(parts: GatewayParts, journey: Journey): Response {
  const query = new URLSearchParams(journey.query);
  const wanted = filtersOf(journey, query);
  const models = journey.workspace.providers
    .filter((saved) => wanted.slugs === null || wanted.slugs.has(saved.slug))
    .filter((saved) => !wanted.service || saved.provider === wanted.service)
    .filter((saved) => !wanted.provider || saved.slug === wanted.provider || saved.provider === wanted.provider)
    .flatMap((saved) =>
      modelsOffered(parts, saved).map(
        (model): ListedModel => ({
          id: `@${saved.slug}/${model}`,
          slug: model,
          canonical_slug: model,
          object: 'model',
          created: 0,
          owned_by: saved.provider,
        }),
      ),
    );
  models.sort((a, b) => compare(a, b, query.get('sort')) * (query.get('order') === 'desc' ? -1 : 1));
  const offset = Math.max(0, Number(query.get('offset') ?? 0) || 0);
  const limit = Math.max(0, Number(query.get('limit') ?? models.length) || models.length);
  return Response.json(
    { object: 'list', total_count: models.length, data: models.slice(offset, offset + limit) },
    {
      headers: {
        [`${journey.own.prefix}trace-id`]: journey.traceId,
        [`${journey.own.prefix}request-id`]: journey.requestId,
      },
    },
  );
}

function compare(a: ListedModel, b: ListedModel, sort: string | null): number {
  const key = (model: ListedModel) =>
    sort === 'ai_service' ? model.owned_by : sort === 'provider' ? model.id : model.slug;
  return key(a).localeCompare(key(b)) || a.id.localeCompare(b.id);
}

/** A provider's catalogue without what is disabled, and with what was added by hand. */
function modelsOffered(parts: GatewayParts, saved: Journey['workspace']['providers'][number]): string[] {
  const { allowAll, bySlug } = saved.models;
  const catalogue = [...parts.pricer.models(saved.provider), ...(parts.providers.get(saved.provider)?.models ?? [])];
  const known = allowAll ? catalogue.filter((model) => bySlug.get(model)?.enabled !== false) : [];
  const added = [...bySlug].filter(([, rule]) => rule.enabled).map(([slug]) => slug);
  return [...new Set([...known, ...added])];
}

function filtersOf(journey: Journey, query: URLSearchParams) {
  const slugs = providersIn(journey.plan.root);
  if (journey.provider.savedSlug) slugs.add(journey.provider.savedSlug);
  return {
    // A plan that takes its provider from the request can reach every one of them.
    slugs: slugs.size === 0 || hasPassthrough(journey.plan.root) ? null : slugs,
    service: query.get('ai_service'),
    provider: query.get('provider')?.replace(/^@/, '') ?? null,
  };
}

function providersIn(node: PlanNode): Set<string> {
  if (node.kind === 'strategy') return new Set(node.children.flatMap((child) => [...providersIn(child)]));
  if (node.provider.from === 'saved') return new Set([node.provider.slug]);
  const model = node.overrideParams?.model ?? node.defaultParams?.model;
  return typeof model === 'string' && model.startsWith('@')
    ? new Set([model.slice(1).split('/', 1)[0] ?? ''])
    : new Set();
}

const hasPassthrough = (node: PlanNode): boolean =>
  node.kind === 'strategy' ? node.children.some(hasPassthrough) : node.passthrough;
