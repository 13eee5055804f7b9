/** A gateway in which secrets are planted, and servers that send back what they are sent. */
import { randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Json } from './harness.ts';
import * as openai from './providers/openai.ts';
import { json, type ReceivedCall, type SimulatedProvider, startProvider } from './providers/simulated.ts';
import { newVault, vaultServer } from './secret-managers/vault.ts';
import { type Collector, startCollector } from './servers/otlp-collector.ts';
import { startWorld, type World } from './world.ts';

/** Secrets that a test plants, each under a name. */
export class Canaries {
  readonly planted = new Map<string, string>();

  /** Plain enough that no serialiser changes it, and unlike anything else. */
  plant(name: string): string {
    const secret = `canary-${name}-${randomBytes(12).toString('hex')}`;
    this.planted.set(name, secret);
    return secret;
  }

  foundIn(text: string | Buffer): string[] {
    return [...this.planted].flatMap(([name, secret]) => (text.includes(secret) ? [name] : []));
  }
}

/** Refuses, and tells in its body and its headers what it was sent, as careless servers do. */
export const echo =
  (status: number) =>
  (call: ReceivedCall, response: ServerResponse): void => {
    const sent = { headers: call.headers, path: call.path, body: call.body.toString() };
    response.setHeader('x-echo', encodeURIComponent(call.headers.authorization ?? ''));
    return void json(status, { error: { message: `Not allowed: ${JSON.stringify(sent)}` }, ...sent })(call, response);
  };

export const question = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] };
/** The address of a simulated server without its path. */
export const origin = (server: SimulatedProvider) => server.url.replace('/v1', '');

export const filesUnder = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesUnder(path) : [path];
  });

export interface CanaryWorld {
  collector: Collector;
  provider: SimulatedProvider;
  partner: SimulatedProvider;
  service: SimulatedProvider;
  vault: SimulatedProvider;
  world: World;
  workspaceId: string;
  saved(path: string, body: object, key?: string): Promise<Json>;
  /** Calls, and waits for the log. */
  call(headers: Record<string, string>, path?: string, body?: object): Promise<number>;
  stop(): Promise<void>;
}

/** The Vault holds the value `managed` for whoever shows the token. */
export async function startCanaryWorld(
  canaries: Canaries,
  { vaultToken, managed }: { vaultToken: string; managed: string },
): Promise<CanaryWorld> {
  const collector = startCollector();
  const provider = await startProvider(openai.says('Hello'));
  const partner = await startProvider(echo(403));
  const service = await startProvider(echo(403));
  const state = newVault();
  state.tokens = new Map([[vaultToken, '']]);
  state.kv2.set('managed', { data: { key: managed }, version: 1 });
  const vault = await startProvider((call, response) => vaultServer(state)(call, response));
  const world = await startWorld(
    {},
    {
      SMTP_URL: `smtp://mailer:${canaries.plant('smtp')}@127.0.0.1:1`,
      MAIL_FROM: 'gw@example.com',
      METRICS_TOKEN: canaries.plant('metrics-token'),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${canaries.plant('exporter-header')}`,
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
      PROMETHEUS_INCLUDE_MODEL_LABEL: 'true',
      PROMETHEUS_INCLUDE_CONFIG_NAME_LABEL: 'true',
      PROMETHEUS_INCLUDE_API_KEY_NAME_LABEL: 'true',
      ORGANISATION_HEADERS_TO_MASK: 'x-installation-pass',
    },
  );
  const workspaceId: string = (await world.gateway.get('/v1/workspaces')).body.data[0].id;
  await world.gateway.put('/v1/admin/organisation/settings', {
    data_plane_security_settings: { block_inline_config: false },
  });
  const saved = async (path: string, body: object, key?: string): Promise<Json> => {
    const { status, body: answer } = await world.gateway.post(path, body, key ? { key } : {});
    if (status !== 200) throw new Error(`${path} was refused: ${JSON.stringify(answer)}`);
    return answer;
  };

  const call = async (headers: Record<string, string>, path = '/v1/chat/completions', body: object = question) => {
    const traceId = Bun.randomUUIDv7();
    const answer = await world.call(path, body, { 'x-gw-trace-id': traceId, ...headers });
    await answer.text();
    if (answer.status !== 401) await world.records(traceId, 1);
    return answer.status;
  };

  return {
    collector,
    provider,
    partner,
    service,
    vault,
    world,
    workspaceId,
    saved,
    call,
    async stop() {
      await world.stop();
      await collector.stop();
      for (const server of [provider, partner, service, vault]) await server.stop();
    },
  };
}
