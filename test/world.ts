/** The whole program with simulated providers behind it, set up through the public API: `@a` and `@b` are saved providers. */
import type { LogMetrics } from '../src/logs/record.ts';
import { startGateway, type TestGateway } from './harness.ts';
import type { SimulatedProvider } from './providers/simulated.ts';

export interface World {
  gateway: TestGateway;
  /** Saves a config and answers its slug. */
  saveConfig(config: object): Promise<string>;
  /** Saves a provider in the first workspace. */
  saveProvider(slug: string, provider: string, simulated: Pick<SimulatedProvider, 'url'>, more?: object): Promise<void>;
  /** Calls the data plane with the workspace key. */
  call(path: string, body: unknown, headers?: Record<string, string>, init?: RequestInit): Promise<Response>;
  /** The metrics of a trace's log records, once there are `count` of them. */
  records(traceId: string, count: number): Promise<LogMetrics[]>;
  stop(): Promise<void>;
}

export async function startWorld(
  providers: Record<string, { provider: string; simulated: SimulatedProvider }>,
  env: Record<string, string> = {},
  start: typeof startGateway = startGateway,
): Promise<World> {
  const gateway = await start({ TRUSTED_CUSTOM_HOSTS: '127.0.0.1', ...env });
  const workspaces = await gateway.get('/v1/workspaces');
  const workspaceId: string = workspaces.body.data[0].id;

  const world: World = {
    gateway,
    async saveConfig(config) {
      const saved = await gateway.post('/v1/configs', { name: 'Test config', config, workspace_id: workspaceId });
      if (saved.status !== 200) throw new Error(`The config was refused: ${JSON.stringify(saved.body)}`);
      return saved.body.slug;
    },
    async saveProvider(slug, provider, simulated, more = {}) {
      const saved = await gateway.post('/v1/integrations', {
        name: slug,
        slug,
        ai_provider_id: provider,
        key: `sk-${slug}-secret`,
        workspace_id: workspaceId,
        create_default_provider: true,
        default_provider_slug: slug,
        configurations: { custom_host: simulated.url },
        ...more,
      });
      if (saved.status !== 200) throw new Error(`The provider was refused: ${JSON.stringify(saved.body)}`);
    },
    call: (path, body, headers = {}, init = {}) =>
      fetch(gateway.url + path, {
        method: 'POST',
        headers: { 'x-gw-api-key': gateway.workspaceKey, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        ...init,
      }),
    records: (traceId, count) => recordsOf(gateway, traceId, count),
    stop: () => gateway.stop(),
  };
  for (const [slug, { provider, simulated }] of Object.entries(providers)) {
    await world.saveProvider(slug, provider, simulated);
  }
  return world;
}

/** Records are written when the answer is already on its way, so they are waited for. */
async function recordsOf({ records }: TestGateway, traceId: string, count: number): Promise<LogMetrics[]> {
  for (;;) {
    const found = records.map(({ metrics }) => metrics).filter((metrics) => metrics.trace_id === traceId);
    if (found.length >= count) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
