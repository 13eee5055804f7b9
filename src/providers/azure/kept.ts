/** What a resource of Azure keeps, whichever service stands in front of it: files and batches, at OpenAI's paths. */
import type { EndpointKind } from '../endpoints.ts';
import type { ProviderEndpoint } from '../provider.ts';

export const keptEndpoints = (onResource: (path: string) => ProviderEndpoint) =>
  ({
    uploadFile: onResource('/files'),
    listFiles: onResource('/files'),
    retrieveFile: onResource('/files/:id'),
    deleteFile: onResource('/files/:id'),
    retrieveFileContent: onResource('/files/:id/content'),
    createBatch: onResource('/batches'),
    listBatches: onResource('/batches'),
    retrieveBatch: onResource('/batches/:id'),
    cancelBatch: onResource('/batches/:id/cancel'),
  }) satisfies Partial<Record<EndpointKind, ProviderEndpoint>>;
