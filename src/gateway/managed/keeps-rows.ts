/** Who keeps the rows of a batch though the provider keeps files: we do, where it takes them with a call or runs no batches. */
import type { Provider } from '../../providers/provider.ts';

export const keepsRowsHere = (provider: Provider | undefined): boolean =>
  provider !== undefined &&
  (provider.rowsInline === true || (provider.endpoints.uploadFile !== undefined && !provider.endpoints.createBatch));
