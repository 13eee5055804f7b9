/** The integrated model list: every model that the workspace's saved providers offer. */
import type { PlanNode } from '../../catalog/plan.ts';
import type { RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { GatewayError } from '../errors.ts';
import { splitModel } from '../request/model-name.ts';

type Saved = RequestContext['workspace']['providers'][number];

interface ListedModel {
  id: string;
  slug: string;
  canonical_slug: string;
  object: 'model';
  created: number;
  owned_by: string;
}

/** The list is ours when the request names no provider, or asks for it although it does. */
export function wantsIntegratedModels(context: RequestContext): boolean {
  if (context.matched.route.kind !== 'listModels') return false;
  const { own, plan, provider } = context;
  if (own.flag('fetch-integrated-models') || own.get('models-endpoint') || plan.fetchIntegratedModels) return true;
  return provider.savedSlug === null && provider.name === null && providersIn(plan.root).size === 0;
}

/** Whether one model of the list is asked for, by the name that it has there. */
export const wantsIntegratedModel = ({ matched: { route, params } }: RequestContext): boolean =>
  route.kind === 'retrieveModel' && (params.id ?? '').startsWith('@');

export function integratedModel(deps: GatewayDeps, context: RequestContext): Response {
  const id = context.matched.params.id ?? '';
  const { slug, model } = splitModel(id);
  const saved = context.workspace.provider(slug);
  if (!saved || model === null || !modelsOffered(deps, saved).includes(model)) {
    throw new GatewayError('model_not_found', `there is no model "${id}" in this workspace`);
  }
  return ours(context, listedModel(saved, model));
}

const ours = ({ own, traceId, requestId }: RequestContext, body: object): Response =>
  Response.json(body, { headers: { [`${own.prefix}trace-id`]: traceId, [`${own.prefix}request-id`]: requestId } });

const listedModel = (saved: Saved, model: string): ListedModel => ({
  id: `@${saved.slug}/${model}`,
  slug: model,
  canonical_slug: model,
  object: 'model',
  created: 0,
  owned_by: saved.provider,
});

export function integratedModels(deps: GatewayDeps, context: RequestContext): Response {
  const query = new URLSearchParams(context.query);
  const wanted = filtersOf(context, query);
  const models = context.workspace.providers
    .filter((saved) => wanted.slugs === null || wanted.slugs.has(saved.slug))
    .filter((saved) => !wanted.service || saved.provider === wanted.service)
    .filter((saved) => !wanted.provider || saved.slug === wanted.provider || saved.provider === wanted.provider)
    .flatMap((saved) => modelsOffered(deps, saved).map((model) => listedModel(saved, model)));
  models.sort((a, b) => compare(a, b, query.get('sort')) * (query.get('order') === 'desc' ? -1 : 1));
  const offset = Math.max(0, Number(query.get('offset') ?? 0) || 0);
  const limit = Math.max(0, Number(query.get('limit') ?? models.length) || models.length);
  return ours(context, { object: 'list', total_count: models.length, data: models.slice(offset, offset + limit) });
}

function compare(a: ListedModel, b: ListedModel, sort: string | null): number {
  const key = (model: ListedModel) =>
    sort === 'ai_service' ? model.owned_by : sort === 'provider' ? model.id : model.slug;
  return key(a).localeCompare(key(b)) || a.id.localeCompare(b.id);
}

/** A provider's catalogue without what is disabled, and with what was added by hand. */
function modelsOffered(deps: GatewayDeps, saved: Saved): string[] {
  const { allowAll, bySlug } = saved.models;
  const catalogue = [...deps.pricer.models(saved.provider), ...(deps.providers.get(saved.provider)?.models ?? [])];
  const known = allowAll ? catalogue.filter((model) => bySlug.get(model)?.enabled !== false) : [];
  const added = [...bySlug].filter(([, rule]) => rule.enabled).map(([slug]) => slug);
  return [...new Set([...known, ...added])];
}

function filtersOf(context: RequestContext, query: URLSearchParams) {
  const slugs = providersIn(context.plan.root);
  if (context.provider.savedSlug) slugs.add(context.provider.savedSlug);
  return {
    // A plan that takes its provider from the request can reach every one of them.
    slugs: slugs.size === 0 || hasPassthrough(context.plan.root) ? null : slugs,
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
