/** The calls of one trace, as a tree. */
import { z } from 'zod';
import { notFound } from '../../http/errors.ts';
import { lazy } from '../../lazy.ts';
import { exactCents } from '../../logs/cents.ts';
import type { LogMetrics } from '../../logs/record.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { organisationName } from './list.ts';
import { showFeedback, showMetrics } from './record.ts';
import { feedbackSchema, metricsSchema } from './schema.ts';
import { inTime, visibleLogs } from './scopes.ts';

const scopes = ['logs.list', 'logs.view'] as const;
/** A trace with more calls is cut to the newest of them. */
const mostSpans = 2_000;

/** The tree names spans by their ids, so that it nests as deep as the trace does. */
const treeNode = lazy(() => {
  const node: z.ZodType<TreeNode> = z
    .object({
      span_id: z.string(),
      span_name: z.string(),
      log_ids: z.array(z.string()).describe('The calls of this span'),
      children: z.lazy(() => z.array(node)),
    })
    .meta({ id: 'TraceNode' });
  return node;
});

interface TreeNode {
  span_id: string;
  span_name: string;
  log_ids: string[];
  children: TreeNode[];
}

export const readTrace = endpoint({
  method: 'GET',
  path: '/logs/traces/:traceId',
  tag: 'Logs',
  summary: 'Read the calls of a trace, in their order and as a tree',
  access: {
    callers: ['admin-key', 'workspace-key', 'user-key', 'session'],
    scope: { anyOf: scopes },
    level: 'workspace',
  },
  params: () => z.object({ traceId: z.string().min(1).max(512) }),
  query: () =>
    z.object({ workspace_id: z.string().max(255).optional(), workspace_slug: z.string().max(255).optional() }),
  reply: () =>
    z.object({
      object: z.literal('trace'),
      trace_id: z.string(),
      total_cost: z.number().describe('In US cents'),
      total_units: z.number(),
      duration_ms: z.number(),
      spans: z.array(metricsSchema()),
      tree: z.array(treeNode()),
      feedbacks: z.array(feedbackSchema()),
    }),
  async handle({ caller, params, query, workspace, db, now, services }) {
    const visible = await visibleLogs({ db, caller, workspace, slug: query.workspace_slug, needs: scopes });
    const { rows } = await inTime(
      services.logs.list({
        filter: {
          organisationId: caller.organisationId,
          scopes: visible.scopes,
          from: 0,
          to: now.getTime() + 1,
          traceIds: [params.traceId],
        },
        sort: 'created_at',
        descending: true,
        offset: 0,
        limit: mostSpans,
      }),
    );
    if (rows.length === 0) throw notFound('trace');
    const calls = rows.map(({ metrics }) => metrics).reverse();
    const name = await organisationName(db, caller.organisationId);
    const places = [...new Set(calls.map(({ workspace_id }) => workspace_id))];
    const feedback = await inTime(
      Promise.all(places.map((place) => services.logs.feedbackOnTrace(place, params.traceId))),
    );
    const begun = Math.min(...calls.map(({ created_at }) => created_at));
    const ended = Math.max(...calls.map(({ created_at, response_time }) => created_at + response_time));
    return {
      object: 'trace' as const,
      trace_id: params.traceId,
      total_cost: exactCents(calls.reduce((total, { cost }) => total + cost, 0)),
      total_units: calls.reduce((total, { total_units }) => total + total_units, 0),
      duration_ms: Math.round(ended - begun),
      spans: calls.map((metrics) => showMetrics(metrics, name)),
      tree: treeOf(calls),
      feedbacks: feedback.flat().map(showFeedback),
    };
  },
});

/** Spans below their parents. One whose parent is not here is a root, and so is one that would stand below itself. */
export function treeOf(calls: readonly LogMetrics[]): TreeNode[] {
  const nodes = new Map<string, TreeNode & { parent: string }>();
  for (const { id, span_id, span_name, parent_span_id } of calls) {
    const known = nodes.get(span_id);
    if (known) known.log_ids.push(id);
    else nodes.set(span_id, { span_id, span_name, log_ids: [id], children: [], parent: parent_span_id });
  }
  const roots: TreeNode[] = [];
  for (const node of nodes.values()) {
    const parent = nodes.get(node.parent);
    (parent && !standsBelow(nodes, parent.span_id, node.span_id) ? parent.children : roots).push(node);
  }
  return roots.map(plain);
}

const plain = ({ span_id, span_name, log_ids, children }: TreeNode): TreeNode => ({
  span_id,
  span_name,
  log_ids,
  children: children.map(plain),
});

function standsBelow(nodes: ReadonlyMap<string, { parent: string }>, span: string, above: string): boolean {
  const seen = new Set<string>();
  for (
    let at: string | undefined = span;
    at !== undefined && nodes.has(at) && !seen.has(at);
    at = nodes.get(at)?.parent
  ) {
    if (at === above) return true;
    seen.add(at);
  }
  return false;
}
