/** A data plane with one simulated server behind it that stands for any provider, named by header for each call. */
import { beforeAll } from 'bun:test';
import { type Plane, startPlane } from './gateway-deps.ts';
import type { Json } from './harness.ts';
import { sharedByTests } from './journey.ts';
import { json, type SimulatedProvider, startProvider } from './providers/simulated.ts';

interface Told {
  status: number;
  body: Json;
  /** What the provider was sent first. */
  sent: Json;
}

interface Asked {
  readonly plane: Plane;
  readonly provider: SimulatedProvider;
  /** The headers that name the provider, and lead to the simulated one. */
  headers(id: string, more?: Record<string, string>): Record<string, string>;
  ask(id: string, path: string, body: object, more?: Record<string, string>): Promise<Told>;
}

/** Started before the tests of a file, ended behind them. */
export function askedProvider(): Asked {
  let plane: Plane;
  let provider: SimulatedProvider;
  beforeAll(async () => {
    plane = startPlane();
    provider = await startProvider(json(200, {}));
  });
  sharedByTests(
    () => plane,
    () => [provider],
  );
  const headers: Asked['headers'] = (id, more = {}) => ({
    'x-gw-provider': id,
    'x-gw-custom-host': provider.url,
    authorization: 'Bearer provider-secret',
    ...more,
  });
  return {
    get plane() {
      return plane;
    },
    get provider() {
      return provider;
    },
    headers,
    async ask(id, path, body, more = {}) {
      const answer = await plane.call(`/v1${path}`, body, headers(id, more));
      return { status: answer.status, body: await answer.json(), sent: provider.calls[0]?.json };
    },
  };
}
