/** How replies are kept: one cache, refreshed after every change that touches them. */
import { QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { ApiFault } from './client.ts';

export const pageSize = 25;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      // A refusal stays a refusal; only a missing or broken answer is worth a second try.
      retry: (failures, error) => failures < 1 && (!(error instanceof ApiFault) || error.status >= 500),
      refetchOnWindowFocus: true,
    },
  },
});

/** A change, and the lists and records that it makes stale. */
export function useAction<I, O>(run: (input: I) => Promise<O>, stale: readonly string[]) {
  const client = useQueryClient();
  return useMutation<O, ApiFault, I>({
    mutationFn: run,
    // A reply may hold a secret; nothing keeps it once its dialog is gone.
    gcTime: 0,
    onSuccess: () => Promise.all(stale.map((name) => client.invalidateQueries({ queryKey: [name] }))),
  });
}
