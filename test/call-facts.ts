/** The facts of a call, for tests of providers' pure functions. */
import type { CallFacts } from '../src/providers/provider.ts';

export const callFacts = (more: Partial<CallFacts> = {}): CallFacts => {
  let ids = 0;
  return {
    provider: 'example',
    kind: 'chatComplete',
    model: 'model-1',
    stream: false,
    credential: 'secret',
    fields: {},
    customHost: null,
    pathParams: {},
    query: '',
    body: {},
    files: new Map(),
    media: new Map(),
    strict: true,
    now: () => 1_700_000_000,
    newId: (prefix) => `${prefix}${++ids}`,
    metadata: {},
    labelPrefix: 'gw_gateway_',
    permittedModel: (named) => named,
    storage: () => null,
    clientHeader: () => null,
    ...more,
  };
};
