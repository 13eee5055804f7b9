/** The graphs, each an endpoint of its own. */
import { z } from 'zod';
import { edgesOf, localText, localTime } from '../../logs/analytics/buckets.ts';
import { mergeAggregates } from '../../logs/analytics/figures.ts';
import { type Graph, type GraphName, graphNames, graphs } from '../../logs/analytics/graphs.ts';
import type { LogFilter, LogQueries } from '../../logs/query.ts';
import { type Endpoint, endpoint } from '../kernel/endpoint.ts';
import { conditionsOf, filterShape, rangeShape, requireRange } from '../logs/filters.ts';
import { inTime, visibleLogs } from '../logs/scopes.ts';
import { viewing } from './access.ts';

const graphEndpoint = (name: GraphName): Endpoint => {
  const graph: Graph = graphs[name];
  return endpoint({
    method: 'GET',
    path: `/analytics/graphs/${name}`,
    tag: 'Analytics',
    summary: `Graph of ${name.replace('/', ' by ').replace('-', ' ')}`,
    access: viewing,
    query: () => z.object({ ...filterShape(), ...rangeShape }),
    reply: () =>
      z.object({
        object: z.literal('analytics-graph'),
        summary: z.object(graph.summary),
        data_points: z.array(z.object(graph.point)),
      }),
    async handle({ caller, query, workspace, db, services }) {
      const start = localTime(query.time_of_generation_min);
      const to = Date.parse(query.time_of_generation_max);
      requireRange(start.ms, to);
      const visible = await visibleLogs({
        db,
        caller,
        workspace,
        slug: query.workspace_slug,
        needs: ['analytics.view'],
        sums: true,
      });
      const filter: LogFilter = {
        ...conditionsOf(query),
        organisationId: caller.organisationId,
        scopes: visible.scopes,
        from: start.ms,
        to,
      };
      const edges = edgesOf(start, to);
      const drawn = await inTime(draw(graph, services.logs, filter, edges, (ms) => localText(ms, start.offset)));
      return { object: 'analytics-graph' as const, ...drawn };
    },
  });
};

async function draw(
  graph: Graph,
  logs: LogQueries,
  filter: LogFilter,
  edges: readonly number[],
  textOf: (ms: number) => string,
) {
  const starts = edges.slice(0, -1);
  if (graph.of === 'feedback') {
    const spans = starts.map((from, at) => ({ timestamp: textOf(from), from, to: edges[at + 1] ?? from }));
    return graph.draw(await logs.feedback(filter), spans);
  }
  const { sums, measures } = graph;
  const rows = await logs.aggregate({ filter, group: { by: 'time', edges }, sums, measures });
  const whole = graph.needsWhole
    ? (await logs.aggregate({ filter, group: { by: 'nothing' }, sums, measures }))[0]
    : undefined;
  const spans = rows.map((calls) => ({ timestamp: textOf(Number(calls.key)), calls }));
  return graph.draw(spans, whole ?? mergeAggregates(rows));
}

export const graphEndpoints: readonly Endpoint[] = graphNames.map(graphEndpoint);
