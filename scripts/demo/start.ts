/** The state of the demo: an organisation with workspaces, keys, configs and providers, made through the public API. */
import { startApp } from '../../src/app.ts';
import { readEnvironment } from '../../src/environment.ts';
import { silentLog } from '../../src/log.ts';

/** A workspace that traffic is made for. */
export interface DemoPlace {
  organisationId: string;
  workspaceId: string;
  workspaceSlug: string;
  keys: { id: string; name: string }[];
  configs: { id: string; slug: string; versionId: string | null }[];
  providers: string[];
  /** Its share of all calls. */
  weight: number;
}

const teams = [
  { name: 'Support assistant', weight: 5, keys: ['production', 'staging'] },
  { name: 'Search', weight: 3, keys: ['indexer', 'ranker'] },
  { name: 'Research', weight: 1, keys: ['notebooks'] },
];

export async function demoStart(
  dataDir: string,
): Promise<{ places: DemoPlace[]; credentials: Record<string, string> }> {
  const settings = readEnvironment({ PORT: '0', GW_DATA_DIR: dataDir });
  const app = await startApp(settings, { log: silentLog });
  if (!app.firstStart) throw new Error('The data folder is not empty');
  const { adminKey, workspaceKey, ownerEmail, ownerPassword } = app.firstStart;
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${app.url}/v1${path}`, {
      method,
      headers: { 'x-gw-api-key': adminKey, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const reply = (await response.json()) as Record<string, string>;
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${JSON.stringify(reply)}`);
    return reply;
  };
  try {
    const places: DemoPlace[] = [];
    for (const team of teams) {
      const workspace = await call('POST', '/admin/workspaces', { name: team.name });
      const { id = '', slug = '', organisation_id = '' } = workspace;
      const keys = [];
      for (const name of team.keys) {
        const key = await call('POST', '/api-keys/workspace/service', {
          name,
          workspace_id: id,
          scopes: ['completions.write', 'logs.list', 'logs.view', 'logs.write', 'analytics.view'],
        });
        keys.push({ id: key.id ?? '', name });
      }
      const config = await call('POST', '/configs', {
        name: 'Careful',
        workspace_id: id,
        config: {
          strategy: { mode: 'fallback' },
          retry: { attempts: 2 },
          targets: [
            { provider: 'openai', api_key: 'sk-demo' },
            { provider: 'anthropic', api_key: 'sk-demo' },
          ],
        },
      });
      places.push({
        organisationId: organisation_id,
        workspaceId: id,
        workspaceSlug: slug,
        keys,
        configs: [{ id: config.id ?? '', slug: config.slug ?? '', versionId: config.version_id ?? null }],
        providers: ['openai-prod', 'anthropic-prod', 'gemini-prod'],
        weight: team.weight,
      });
    }
    const credentials = {
      'Admin key': adminKey,
      'Workspace key': workspaceKey,
      Owner: `${ownerEmail} / ${ownerPassword}`,
    };
    return { places, credentials };
  } finally {
    await app.stop();
  }
}
