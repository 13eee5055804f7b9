/** Analytics: graphs, summaries and groups of calls. */
import type { Resource } from '../kernel/endpoint.ts';
import { graphEndpoints } from './graphs.ts';
import { groupEndpoints } from './groups.ts';
import { cacheSummary } from './summary.ts';

export const analyticsResource: Resource = {
  name: 'analytics',
  endpoints: [...graphEndpoints, cacheSummary, ...groupEndpoints],
};
