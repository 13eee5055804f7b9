/** What the cache did for the calls of a range. */
import { z } from 'zod';
import { samplesThat, verificationOf } from '../../logs/analytics/cache-verification.ts';
import { averageHitLatency, averageMissLatency, hits } from '../../logs/analytics/figures.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { conditionsOf, filterShape, rangeShape, requireRange } from '../logs/filters.ts';
import { inTime, visibleLogs } from '../logs/scopes.ts';
import { viewing } from './access.ts';

const mostSamples = 500;

export const cacheSummary = endpoint({
  method: 'GET',
  path: '/analytics/summary/cache',
  tag: 'Analytics',
  summary: 'Summary of what the cache did',
  access: viewing,
  query: () => z.object({ ...filterShape(), ...rangeShape }),
  reply: () =>
    z.object({
      object: z.literal('analytics-summary'),
      summary: z.object({
        hits: z.number(),
        avg_latency: z.number().describe('Of answers from the cache, in ms'),
        total_requests: z.number(),
        cache_speedup: z.number().describe('How much faster hits were than the rest, in percent'),
        verification: z
          .object({
            samples: z.number(),
            precision: z.number().nullable().describe('The share of them whose cached answer was right'),
            proposed_threshold: z
              .number()
              .nullable()
              .describe('The lowest similarity at which 95 % of them were right; null for fewer than 20'),
          })
          .describe('What the newest samples of `cache.verify` say'),
      }),
    }),
  async handle({ caller, query, workspace, db, services }) {
    const [from, to] = [Date.parse(query.time_of_generation_min), Date.parse(query.time_of_generation_max)];
    requireRange(from, to);
    const needs = ['analytics.view'] as const;
    const visible = await visibleLogs({ db, caller, workspace, slug: query.workspace_slug, needs, sums: true });
    const filter = { ...conditionsOf(query), organisationId: caller.organisationId, scopes: visible.scopes, from, to };
    const [calls] = await inTime(services.logs.aggregate({ filter, group: { by: 'nothing' }, sums: ['latency'] }));
    const samplesOf = async (agrees: boolean) => {
      const sampled = { ...filter, metadata: { ...filter.metadata, ...samplesThat(agrees) } };
      const query = { filter: sampled, sort: 'created_at' as const, descending: true, offset: 0, limit: mostSamples };
      const { rows } = await inTime(services.logs.list(query));
      return rows.map(({ metrics }) => metrics.metadata);
    };
    const verification = verificationOf(await samplesOf(true), await samplesOf(false));
    const hit = calls ? averageHitLatency(calls) : 0;
    const miss = calls ? averageMissLatency(calls) : 0;
    const count = calls ? hits(calls) : 0;
    return {
      object: 'analytics-summary' as const,
      summary: {
        hits: count,
        avg_latency: hit,
        total_requests: calls?.requests ?? 0,
        cache_speedup: count === 0 || miss === 0 ? 0 : (100 * (miss - hit)) / miss,
        verification,
      },
    };
  },
});
