/** What metrics tell of secrets. */
import type { Secrets } from './resolver.ts';

export const secretGauges = ({ counts }: Pick<Secrets, 'counts'>) => ({
  gw_secret_fetches: { help: 'Secrets that managers were asked for since the start', read: () => counts.fetches },
  gw_secret_fetch_failures: { help: 'How many of them could not be had', read: () => counts.failures },
  gw_secrets_failing: { help: 'Secrets whose last fetch failed', read: counts.failing },
  gw_secrets_stale: {
    help: 'Secrets that are used beyond their age because their manager is away',
    read: counts.stale,
  },
});
